"""The traffic of routes: which have the most answers, and which fell silent."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read, read_int

SECOND_NS = 1_000_000_000
HOUR_S = 3600
WEEK_S = 7 * 24 * HOUR_S
# An answer that several verifiers judged is in the sums of each: the largest sum is the number of
# answers. A sender's clock may be ahead by less than an hour; later answers are not current.
# The hour two weeks ago counts where it had any answer, so that one special day makes no alarm.
SILENT = """
SELECT ServiceName AS service, Route AS route, max(OfLastWeek) AS expected,
    max(OfBefore) AS before, max(OfNow) AS now, max(OfLast) * 1000000000 AS last_ns
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
HAVING expected >= {least:UInt32} AND now = 0 AND (before = 0 OR before >= {least:UInt32})
ORDER BY expected DESC, ServiceName, Route LIMIT {limit:UInt32}
"""
IS_ANY = """
SELECT count() > 0 FROM rt4chart_route_5m
WHERE Tick >= toDateTime({at:Int64} - {hour:Int64}, 'UTC')
  AND Tick < toDateTime({at:Int64} + {hour:Int64}, 'UTC')
"""
BUSIEST = """
SELECT ServiceName AS service, Route AS route, sum(Answers * Decided) AS claims
FROM rt4chart_route_5m
WHERE VerifierId = {verifier:String} AND Decision = 'verified'
  AND Tick >= toDateTime({since:Int64}, 'UTC')
  AND Tick < toDateTime({at:Int64} + {hour:Int64}, 'UTC')
GROUP BY ServiceName, Route HAVING claims > 0
ORDER BY claims DESC, ServiceName, Route LIMIT {limit:UInt32}
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


@dataclass(frozen=True, slots=True)
class _Busy:
    service: str
    route: str


def silent_routes(
    client: Client, *, now_ns: int, least: int, limit: int = 50
) -> tuple[list[SilentRoute], bool]:
    """The routes that fell silent, and whether any route has an answer in the last hour.

    Those are left out that had fewer than `least` answers in that hour a week ago, or, where the
    route is that old, two weeks ago.
    """
    given = {"at": now_ns // SECOND_NS, "hour": HOUR_S, "week": WEEK_S}
    found = read(client, SilentRoute, SILENT, {**given, "least": least, "limit": limit})
    return found, bool(read_int(client, IS_ANY, given))


def busiest_routes(
    client: Client, *, since_ns: int, now_ns: int, verifier: str, limit: int
) -> list[tuple[str, str]]:
    """The routes with the most decided claims since then, as (service, route)."""
    times = {"since": since_ns // SECOND_NS, "at": now_ns // SECOND_NS, "hour": HOUR_S}
    given = {**times, "verifier": verifier, "limit": limit}
    return [(one.service, one.route) for one in read(client, _Busy, BUSIEST, given)]
