"""The failures of issues and the decided claims of routes a day, weighted by 1 / sample rate."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.failures import DAY_NS

# Of an answer that several verifiers judged, the verdict of the last. `age_days` is in whole days
# before `now`; a time in the future is today. An assignment older than its claim does not count.
FAILURES = """
SELECT a.IssueId AS issue, toString(c.Label) AS label,
    least(intDiv(greatest({now:Int64} - toUnixTimestamp64Nano(a.Timestamp), 0), {day:Int64}),
        {days:Int64} - 1) AS age_days,
    sum(if(v.Rate > 0, 1 / v.Rate, 0)) AS weight, count() AS seen
FROM (
    SELECT IssueId, TraceId, SpanId, ClaimIndex, Timestamp, Version
    FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND Timestamp > fromUnixTimestamp64Nano({since:Int64})
) AS a
INNER JOIN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId,
        argMax(SampleRate, Version) AS Rate
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND Timestamp > fromUnixTimestamp64Nano({since:Int64})
    GROUP BY TraceId, SpanId
) AS v ON v.TraceId = a.TraceId AND v.SpanId = a.SpanId
INNER JOIN (
    SELECT TraceId, SpanId, VerifierId, toInt32(ClaimIndex) AS ClaimIndex, Label, Version
    FROM rt4chart_claims FINAL
    WHERE IsDeleted = 0 AND Label IN ('contradicted', 'baseless')
      AND Timestamp > fromUnixTimestamp64Nano({since:Int64})
) AS c ON c.TraceId = a.TraceId AND c.SpanId = a.SpanId AND c.ClaimIndex = a.ClaimIndex
    AND c.VerifierId = v.VerifierId
WHERE a.Version > c.Version
GROUP BY issue, label, age_days
"""
DECIDED = """
SELECT ServiceName AS service, Route AS route, sum(Decided) AS claims
FROM (
    SELECT ServiceName, Route, TraceId, SpanId,
        argMax(if(SampleRate > 0, 1 / SampleRate, 0)
            * (toFloat64(EntailedCount) + ContradictedCount + BaselessCount), Version) AS Decided
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND Timestamp > fromUnixTimestamp64Nano({since:Int64})
    GROUP BY ServiceName, Route, TraceId, SpanId
)
GROUP BY ServiceName, Route
"""
# From the sums per five minutes. Where several verifiers judged a day, the one that decided most.
DECIDED_A_DAY = """
SELECT ServiceName AS service, Route AS route, least(Age, {days:Int64} - 1) AS age_days,
    max(Claims) AS claims
FROM (
    SELECT ServiceName, Route, VerifierId,
        intDiv(greatest({now:Int64} - toUnixTimestamp(Tick) * 1000000000, 0), {day:Int64}) AS Age,
        sum(if(SampleRate > 0, 1 / SampleRate, 0) * Decided * Answers) AS Claims
    FROM rt4chart_route_5m
    WHERE Decision = 'verified' AND Tick > fromUnixTimestamp64Nano({since:Int64})
    GROUP BY ServiceName, Route, VerifierId, Age
)
GROUP BY service, route, Age
"""


@dataclass(frozen=True, slots=True)
class DayWeight:
    """Failures of one label on the day that many days ago, 0 is today: weighted, and as seen."""

    issue: int
    label: str
    age_days: int
    weight: float
    seen: int


@dataclass(frozen=True, slots=True)
class _DecidedClaims:
    service: str
    route: str
    claims: float
    age_days: int = 0


def failures_a_day(client: Client, *, now_ns: int, days: int) -> list[DayWeight]:
    """The assigned failures of these days before now; an issue's aliases are apart."""
    return read(client, DayWeight, FAILURES, _window(now_ns, days))


def decided_claims(client: Client, *, now_ns: int, days: int) -> dict[tuple[str, str], float]:
    """The weighted decided claims of these days, by service and route."""
    found = read(client, _DecidedClaims, DECIDED, {"since": now_ns - days * DAY_NS})
    return {(one.service, one.route): one.claims for one in found}


def decided_a_day(
    client: Client, *, now_ns: int, days: int
) -> dict[tuple[str, str], tuple[float, ...]]:
    """The weighted decided claims of each of these days, today's first, by service and route."""
    found: dict[tuple[str, str], list[float]] = {}
    for one in read(client, _DecidedClaims, DECIDED_A_DAY, _window(now_ns, days)):
        found.setdefault((one.service, one.route), [0.0] * days)[one.age_days] += one.claims
    return {place: tuple(daily) for place, daily in found.items()}


def _window(now_ns: int, days: int) -> dict[str, object]:
    return {"now": now_ns, "since": now_ns - days * DAY_NS, "day": DAY_NS, "days": days}
