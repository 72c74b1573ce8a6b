"""How many answers routes have and had, and which of them fall silent."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.connect import Client

SECOND_NS = 1_000_000_000
HOUR_S = 3600
WEEK_S = 7 * 24 * HOUR_S
# An answer that several verifiers judged is in the sums of each: the one that judged the most tells
# how many there were. A sender's clock may be ahead by less than an hour; what is dated later still
# is no answer of now. Two weeks ago counts where there was anything at all: one special day is no
# habit.
SILENT = """
SELECT ServiceName, Route, max(OfLastWeek) AS LastWeek, max(OfBefore) AS Before,
    max(OfNow) AS Now, max(OfLast) AS Last
FROM (
    SELECT ServiceName, Route,
        sumIf(Answers, Tick >= toDateTime({at:Int64} - {week:Int64} - {hour:Int64}, 'UTC')
            AND Tick < toDateTime({at:Int64} - {week:Int64}, 'UTC')) AS OfLastWeek,
        sumIf(Answers, Tick < toDateTime({at:Int64} - 2 * {week:Int64}, 'UTC')) AS OfBefore,
        sumIf(Answers, Tick >= toDateTime({at:Int64} - {hour:Int64}, 'UTC')) AS OfNow,
        toUnixTimestamp(maxIf(Tick, Tick >= toDateTime({at:Int64} - {week:Int64}, 'UTC'))) AS OfLast
    FROM rt4chart_route_5m
    WHERE Tick >= toDateTime({at:Int64} - 2 * {week:Int64} - {hour:Int64}, 'UTC')
      AND Tick < toDateTime({at:Int64} + {hour:Int64}, 'UTC')
    GROUP BY ServiceName, Route, VerifierId
)
GROUP BY ServiceName, Route
HAVING LastWeek >= {least:UInt32} AND Now = 0 AND (Before = 0 OR Before >= {least:UInt32})
ORDER BY LastWeek DESC, ServiceName, Route LIMIT {limit:UInt32}
"""
IS_ANY = """
SELECT count() > 0 FROM rt4chart_route_5m
WHERE Tick >= toDateTime({at:Int64} - {hour:Int64}, 'UTC')
  AND Tick < toDateTime({at:Int64} + {hour:Int64}, 'UTC')
"""
BUSIEST = """
SELECT ServiceName, Route, sum(Answers * Decided) AS Claims
FROM rt4chart_route_5m
WHERE VerifierId = {verifier:String} AND Decision = 'verified'
  AND Tick >= toDateTime({since:Int64}, 'UTC')
  AND Tick < toDateTime({at:Int64} + {hour:Int64}, 'UTC')
GROUP BY ServiceName, Route HAVING Claims > 0
ORDER BY Claims DESC, ServiceName, Route LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class SilentRoute:
    """A route with no answer in the last hour, and so many in the same hour a week ago.

    `last_ns` is the tick of its last answer since then, 0 where there is none.
    """

    service: str
    route: str
    expected: int
    last_ns: int


def silent_routes(
    client: Client, *, now_ns: int, least: int, limit: int = 50
) -> tuple[list[SilentRoute], bool]:
    """The routes that fell silent, and whether any route has an answer in the last hour.

    Those are left out that had fewer than `least` answers in that hour a week ago, or, where the
    route is that old, two weeks ago.
    """
    given = {"at": now_ns // SECOND_NS, "hour": HOUR_S, "week": WEEK_S}
    rows = client.query(SILENT, {**given, "least": least, "limit": limit}).result_rows
    is_any = bool(client.query(IS_ANY, given).result_rows[0][0])
    found = [
        SilentRoute(service, route, int(expected), int(last) * SECOND_NS)
        for service, route, expected, _, _, last in rows
    ]
    return found, is_any


def busiest_routes(
    client: Client, *, since_ns: int, now_ns: int, verifier: str, limit: int
) -> list[tuple[str, str]]:
    """The routes with the most decided claims since then, as (service, route)."""
    times = {"since": since_ns // SECOND_NS, "at": now_ns // SECOND_NS, "hour": HOUR_S}
    given = {**times, "verifier": verifier, "limit": limit}
    return [(service, route) for service, route, _ in client.query(BUSIEST, given).result_rows]
