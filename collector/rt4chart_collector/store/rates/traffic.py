"""The traffic of routes: volume, silence, and the share of answers that were verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_rt4chart.spans.model.verdict import Decision
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import sums_in, sums_of
from rt4chart_collector.store.engine.rows import read, read_by, read_int
from rt4chart_collector.store.engine.scope import MAX_ROUTES, QueryScope
from rt4chart_collector.store.rates.claim_rates import RateSlice

SECOND_NS = 1_000_000_000
HOUR_S = 3600
WEEK_S = 7 * 24 * HOUR_S


# An answer that several verifiers judged is in the sums of each, so the largest sum is the number
# of answers. Answers up to an hour in the future count, for senders whose clocks are ahead. If the
# same hour two weeks ago had answers, it must have enough too: one unusual day causes no alarm.
SILENT_ROUTES = """
SELECT ServiceName AS service, Route AS route, max(OfLastWeek) AS expected,
    max(OfBefore) AS before, max(OfNow) AS now, max(OfLast) * 1000000000 AS last_ns
FROM (
    SELECT ServiceName, Route, sumIf(Answers, Part = 'week') AS OfLastWeek,
        sumIf(Answers, Part = 'before') AS OfBefore, sumIf(Answers, Part = 'now') AS OfNow,
        toUnixTimestamp(maxIf(LastTick, Part IN ('since', 'now'))) AS OfLast
    FROM (
        {parts}
    )
    GROUP BY ServiceName, Route, VerifierId
)
GROUP BY ServiceName, Route
HAVING expected >= {min_answers:UInt32} AND now = 0
    AND (before = 0 OR before >= {min_answers:UInt32})
ORDER BY expected DESC, ServiceName, Route LIMIT {limit:UInt32}
"""
HAS_RECENT_ANSWERS = """
SELECT count() > 0 FROM rt4chart_route_5m
WHERE Tick >= toDateTime({at:Int64} - {hour:Int64}, 'UTC')
  AND Tick < toDateTime({at:Int64} + {hour:Int64}, 'UTC')
"""
BUSIEST_ROUTES = """
SELECT ServiceName AS service, Route AS route, sum(Claims) AS claims, count() OVER () AS routes
FROM {sums} WHERE Decision = 'verified'
GROUP BY ServiceName, Route HAVING claims > 0
ORDER BY claims DESC, ServiceName, Route LIMIT {limit:UInt32}
"""
# Those that were verified first: a flood of names has few claims or none.
ROUTES_BY_CLAIMS = """
SELECT ServiceName AS service, Route AS route FROM {sums}
GROUP BY ServiceName, Route HAVING sum(Answers) > 0
ORDER BY sum(Claims) DESC, sum(Answers) DESC, ServiceName, Route LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class SilentRoute:
    """A route without answers in the last hour that had `expected` in the same hour a week ago.

    `last_ns` is the tick of its last answer since then, 0 if there is none.
    """

    service: str
    route: str
    expected: int
    last_ns: int


def silent_routes(
    client: Client, *, now_ns: int, min_answers: int, limit: int = 50
) -> tuple[list[SilentRoute], bool]:
    """The routes that fell silent, and whether any route has an answer in the last hour.

    Routes with fewer than `min_answers` answers in that hour a week ago, or two weeks ago if they
    are that old, are left out.
    """
    at_s = now_ns // SECOND_NS
    parameters = {"at": at_s, "hour": HOUR_S}
    times = {
        "before": (at_s - 2 * WEEK_S - HOUR_S, at_s - 2 * WEEK_S),
        "week": (at_s - WEEK_S - HOUR_S, at_s - WEEK_S),
        "since": (at_s - WEEK_S, at_s - HOUR_S),
        "now": (at_s - HOUR_S, at_s + HOUR_S),
    }
    parts = (_counted(client, part, *span) for part, span in times.items())
    query = SILENT_ROUTES.replace("{parts}", " UNION ALL ".join(parts))
    found = read(client, SilentRoute, query, {"min_answers": min_answers, "limit": limit})
    return found, bool(read_int(client, HAS_RECENT_ANSWERS, parameters))


def _counted(client: Client, part: str, since_s: int, until_s: int) -> str:
    """The answers of all routes between these times."""
    columns = ("ServiceName", "Route", "VerifierId", "Answers", "LastTick")
    span = (since_s * SECOND_NS, until_s * SECOND_NS)
    sums = sums_in(client, *span, columns, where="true")
    return f"SELECT {', '.join(columns)}, '{part}' AS Part FROM {sums}"  # noqa: S608 - our own names


def busiest_routes(
    client: Client, *, since_ns: int, now_ns: int, verifier: str, limit: int
) -> tuple[list[tuple[str, str]], int]:
    """The routes with the most decided claims since then, and the number of all with claims."""
    scope = QueryScope(since_ns, now_ns + HOUR_S * SECOND_NS, verifier)
    sums = sums_of(client, scope, ("ServiceName", "Route", "Decision", "Claims"))
    query = BUSIEST_ROUTES.replace("{sums}", sums)
    rows = list(client.query(query, {**scope.parameters, "limit": limit}).named_results())
    routes = int(rows[0]["routes"]) if rows else 0
    return [(row["service"], row["route"]) for row in rows], routes


def routes_by_claims(client: Client, *, now_ns: int, limit: int) -> list[tuple[str, str]]:
    """Service and route of those with the most claims in the last week, of all verifiers."""
    scope = QueryScope(now_ns - WEEK_S * SECOND_NS, now_ns + HOUR_S * SECOND_NS).whole_hours
    sums = sums_of(client, scope, ("ServiceName", "Route", "Claims", "Answers"))
    query = ROUTES_BY_CLAIMS.replace("{sums}", sums)
    rows = client.query(query, {**scope.parameters, "limit": limit}).named_results()
    return [(row["service"], row["route"]) for row in rows]


# Decisions by cause: excluded by sampling, not verifiable as received, failures of this service.
SAMPLED_OUT = (Decision.NOT_SAMPLED, Decision.THROTTLED, Decision.OVER_BUDGET)
UNREADABLE = (
    Decision.NO_CONTENT,
    Decision.NO_ANSWER,
    Decision.REDACTED,
    Decision.TRUNCATED,
    Decision.NO_CONTEXT,
)
FAILED = (Decision.QUEUE_FULL, Decision.ERROR)
DECISION_COUNTS = """
SELECT service, route, part.1 AS decision, part.2 AS answers, part.3 AS claims,
    part.4 AS undecided
FROM (
    SELECT service, route, groupArray((decision, answers, claims, undecided)) AS parts
    FROM (
        SELECT ServiceName AS service, Route AS route, Decision AS decision,
            sum(Answers) AS answers, sum(Claims) AS claims, sum(Undecided) AS undecided
        FROM {sums} GROUP BY service, route, decision HAVING answers > 0
    )
    GROUP BY service, route
    ORDER BY sum(claims) + sum(undecided) DESC, sum(answers) DESC, service, route
    LIMIT {most:UInt32}
)
ARRAY JOIN parts AS part
ORDER BY service, route, answers DESC, decision
"""
DECISION_TOTALS = """
SELECT Decision AS decision, sum(Answers) AS answers FROM {sums}
GROUP BY Decision HAVING answers > 0 ORDER BY answers DESC, Decision
"""

VERIFIER_COUNTS = """
SELECT VerifierId AS verifier, sumIf(Answers, Decision IN {failed:Array(String)}) AS failed,
    sumIf(Answers, Decision = 'verified') AS verified
FROM {sums}
GROUP BY VerifierId HAVING failed > 0 OR verified > 0 ORDER BY VerifierId
"""


@dataclass(frozen=True, slots=True)
class VerifierCounts:
    """A verifier's answers: failed (judge error or full queue) and with a verdict."""

    verifier: str
    failed: int
    verified: int

    @property
    def failed_share(self) -> float:
        """The share that failed; 0 without an answer."""
        answers = self.failed + self.verified
        return self.failed / answers if answers else 0.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """A route's answers by decision, most frequent first, and its decided and undecided claims."""

    decisions: Mapping[str, int]
    claims: int
    undecided: int

    @property
    def answers(self) -> int:
        """All answers."""
        return sum(self.decisions.values())

    @property
    def verified(self) -> int:
        """Answers with a verdict."""
        return self.decisions.get(Decision.VERIFIED, 0)

    @property
    def sampled_out(self) -> int:
        """Answers excluded by sampling rates, limits or budgets."""
        return self._count(SAMPLED_OUT)

    @property
    def over_budget(self) -> int:
        """Of these, answers that a budget of the judge or of the application left out."""
        return self._count((Decision.OVER_BUDGET,))

    @property
    def unreadable(self) -> int:
        """Answers that arrived without their full text or passages."""
        return self._count(UNREADABLE)

    @property
    def failed(self) -> int:
        """Answers that the judge failed on, or that found the queue full."""
        return self._count(FAILED)

    @property
    def verified_share(self) -> float | None:
        """The share of answers with a verdict; None without an answer."""
        return self.verified / self.answers if self.answers else None

    @property
    def undecided_share(self) -> float | None:
        """The share of claims that the judge could not decide; None without a claim."""
        claims = self.claims + self.undecided
        return self.undecided / claims if claims else None

    def _count(self, decisions: tuple[Decision, ...]) -> int:
        return sum(self.decisions.get(decision, 0) for decision in decisions)


@dataclass(frozen=True, slots=True)
class _DecisionCount:
    decision: str
    answers: int
    claims: int
    undecided: int


def coverage(client: Client, scope: QueryScope) -> dict[tuple[str, str], Coverage]:
    """Coverage of the busiest routes, of ticks that start in the scope. Counts are unweighted."""
    columns = ("ServiceName", "Route", "Decision", "Answers", "Claims", "Undecided")
    query = DECISION_COUNTS.replace("{sums}", sums_of(client, scope, columns))
    parameters = {**scope.parameters, "most": MAX_ROUTES}
    found = read_by(client, ("service", "route"), _DecisionCount, query, parameters)
    return {
        route: Coverage(
            decisions={row.decision: row.answers for row in rows},
            claims=sum(row.claims for row in rows),
            undecided=sum(row.undecided for row in rows),
        )
        for route, rows in found.items()
    }


def coverage_of(rates: RateSlice | None) -> Coverage:
    """The coverage of a slice, without a statement of its own."""
    if rates is None:
        return Coverage({}, 0, 0)
    ordered = sorted(rates.decisions.items(), key=lambda one: (-one[1], one[0]))
    return Coverage(dict(ordered), rates.claims, rates.undecided)


def decision_counts(client: Client, scope: QueryScope) -> dict[str, int]:
    """The answers of all routes by decision, the most frequent first."""
    query = DECISION_TOTALS.replace("{sums}", sums_of(client, scope, ("Decision", "Answers")))
    rows = client.query(query, scope.parameters).named_results()
    return {str(row["decision"]): int(row["answers"]) for row in rows}


def verifier_counts(client: Client, *, since_ns: int, until_ns: int) -> list[VerifierCounts]:
    """Unweighted counts of each verifier, of the ticks that start in [since, until)."""
    columns = ("VerifierId", "Decision", "Answers")
    sums = sums_in(client, since_ns, until_ns, columns, where="true")
    query = VERIFIER_COUNTS.replace("{sums}", sums)
    return read(client, VerifierCounts, query, {"failed": list(map(str, FAILED))})
