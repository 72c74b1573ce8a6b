"""Figures of issues, derived from the assignments and the current verdicts.

The weight of a failure is 1 / the sample rate of its answer, and 1 / the rate of the check that
found it if it is misleading. Shares of misleading claims are of the answers that were checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.answers import FAILED_CLAIM, FAILED_COUNT
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import SAMPLE_RATE, SAMPLE_WEIGHT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import StoredAs, read, read_by, read_int
from rt4chart_collector.store.engine.scope import OF_ROUTE, OF_VERIFIER, QueryScope, in_time
from rt4chart_collector.store.issues.assignments import (
    EVERY_ISSUE,
    GIVEN_ISSUES,
    LIVE_ASSIGNMENTS,
    ON_ROUTES,
)
from rt4chart_collector.store.issues.failures import DAY_NS, IS_FAILURE
from rt4chart_collector.store.issues.issue_events import aliases

ROOT_ISSUE = "transform(IssueId, {merged:Array(UInt64)}, {into:Array(UInt64)}, IssueId)"
# Of claims without a trail, the stage counts nothing, and is none of the sums.
FIGURES_OF_ISSUES = f"""
SELECT {ROOT_ISSUE} AS issue, count() AS claims, sum(l.Weight) AS weighted,
    uniqExact(l.TraceId, l.SpanId) AS answers,
    toUnixTimestamp64Nano(min(l.Timestamp)) AS first_ns,
    toUnixTimestamp64Nano(max(l.Timestamp)) AS last_ns,
    sumMap([t.Stage], [toUInt64(t.IsTraced)], [l.Weight * t.IsTraced]) AS sums,
    arrayZip(sums.1, sums.2, sums.3) AS steps
FROM ({LIVE_ASSIGNMENTS.format(only=GIVEN_ISSUES)}) AS l
LEFT ANY JOIN (
    SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, VerifierId, Stage, 1 AS IsTraced
    FROM rt4chart_trails FINAL
    WHERE IsDeleted = 0 AND TraceId IN (
        SELECT TraceId FROM rt4chart_issue_assignments WHERE {GIVEN_ISSUES}
    ) AND {ON_ROUTES.format(only=GIVEN_ISSUES)}
) AS t ON t.TraceId = l.TraceId AND t.SpanId = l.SpanId AND t.ClaimIndex = l.ClaimIndex
    AND t.VerifierId = l.VerifierId
GROUP BY issue
"""  # noqa: S608 - our own names
FIGURES_OF_ALL = FIGURES_OF_ISSUES.replace(GIVEN_ISSUES, EVERY_ISSUE)
# The failures of one issue by route, model, prompt, day and passage, the most frequent first.
PROFILE_PARTS = f"""
WITH live AS ({LIVE_ASSIGNMENTS.format(only=GIVEN_ISSUES)})
SELECT part.1 AS kind, part.2 AS name, count() AS claims, sum(Weight) AS weighted
FROM live
ARRAY JOIN arrayConcat(
    [('route', toString(Route)), ('model', toString(Model)),
     ('prompt', toString(PromptVersion)), ('day', toString(toDate(Timestamp, 'UTC')))],
    arrayMap(id -> ('evidence', id), arrayDistinct(DocIds)),
    arrayMap(id -> ('context', id), arrayDistinct(Context))
) AS part
GROUP BY kind, name
ORDER BY kind, claims DESC, name
LIMIT {{limit:UInt32}} BY kind
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class FigurePart:
    """The number and the sum of weights of an issue's failures with one property."""

    name: str
    claims: int
    weighted: float


def _steps(found: Iterable[tuple[str, int, float]]) -> tuple[FigurePart, ...]:
    """The steps with claims: the most frequent first, and last what is not known."""
    parts = [FigurePart(name, claims, weighted) for name, claims, weighted in found if claims]
    return tuple(sorted(parts, key=lambda part: (not part.name, -part.claims, part.name)))


@dataclass(frozen=True, slots=True)
class IssueFigures:
    """An issue's failures: their number, sum of weights, number of answers, first and last time.

    `steps` are the steps of chains in which those that were traced entered, the most frequent
    first; "" is not known, and last.
    """

    claims: int = 0
    weighted: float = 0.0
    answers: int = 0
    first_ns: int = 0
    last_ns: int = 0
    steps: Annotated[
        tuple[FigurePart, ...],
        StoredAs("steps", "Array(Tuple(String, UInt64, Float64))", read=_steps),
    ] = ()


@dataclass(frozen=True, slots=True)
class IssueProfile:
    """An issue's failures by property, the most frequent first; `trend` is by day, in order.

    `evidence` are the passages that the judge cited, `context` the passages of the answers.
    """

    routes: tuple[FigurePart, ...] = ()
    models: tuple[FigurePart, ...] = ()
    prompts: tuple[FigurePart, ...] = ()
    trend: tuple[FigurePart, ...] = ()
    evidence: tuple[FigurePart, ...] = ()
    context: tuple[FigurePart, ...] = ()


def issue_figures(
    client: Client, aliases: Mapping[int, int], issues: Sequence[int] | None = None
) -> dict[int, IssueFigures]:
    """The figures of each issue with failures; an alias counts in its root issue.

    They cover the retention of the assignments. Pass `issues`, with their aliases, to read only
    these: all issues means reading every failure.
    """
    parameters: dict[str, object] = {
        "merged": list(aliases) or [0],
        "into": list(aliases.values()) or [0],
        "ids": list(issues or ()),
    }
    query = FIGURES_OF_ALL if issues is None else FIGURES_OF_ISSUES
    found = read_by(client, "issue", IssueFigures, query, parameters, settings=FINAL_PER_PARTITION)
    return {issue: figures for issue, (figures,) in found.items()}


def issue_profile(client: Client, issues: Sequence[int], *, limit: int = 400) -> IssueProfile:
    """The profile of an issue, given with its aliases; `limit` bounds each list."""
    parameters = {"ids": list(issues), "limit": limit}
    kinds = read_by(
        client, "kind", FigurePart, PROFILE_PARTS, parameters, settings=FINAL_PER_PARTITION
    )
    return IssueProfile(
        routes=tuple(kinds.get("route", ())),
        models=tuple(kinds.get("model", ())),
        prompts=tuple(kinds.get("prompt", ())),
        trend=tuple(sorted(kinds.get("day", ()), key=lambda part: part.name)),
        evidence=tuple(kinds.get("evidence", ())),
        context=tuple(kinds.get("context", ())),
    )


# If several verifiers judged an answer, the latest verdict counts. `age_days` is in whole days
# before `now`; a time in the future is today. An assignment older than its claim does not count.
# Each condition of the last join says what the others imply: the engine may begin with `v` and `c`,
# and would join every answer with every claim of the verifier.
FAILURES_BY_DAY = f"""
SELECT a.IssueId AS issue, toString(c.Label) AS label,
    least(intDiv(greatest({{now:Int64}} - toUnixTimestamp64Nano(a.Timestamp), 0), {{day:Int64}}),
        {{days:Int64}} - 1) AS age_days,
    sum(if(v.Rate * c.CheckRate > 0, 1 / (v.Rate * c.CheckRate), 0)) AS weight, count() AS seen
FROM (
    SELECT IssueId, TraceId, SpanId, ClaimIndex, Timestamp, Version
    FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND Timestamp > fromUnixTimestamp64Nano({{since:Int64}})
) AS a
INNER JOIN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId,
        argMax({SAMPLE_RATE}, Version) AS Rate
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND Timestamp > fromUnixTimestamp64Nano({{since:Int64}})
      AND TraceId IN (
        SELECT TraceId FROM rt4chart_issue_assignments
        WHERE Timestamp > fromUnixTimestamp64Nano({{since:Int64}})
      )
    GROUP BY TraceId, SpanId
) AS v ON v.TraceId = a.TraceId AND v.SpanId = a.SpanId
INNER JOIN (
    SELECT TraceId, SpanId, VerifierId, toInt32(ClaimIndex) AS ClaimIndex, Label, CheckRate, Version
    FROM rt4chart_claims FINAL
    WHERE IsDeleted = 0 AND {IS_FAILURE}
      AND Timestamp > fromUnixTimestamp64Nano({{since:Int64}})
) AS c ON c.TraceId = a.TraceId AND c.SpanId = a.SpanId AND c.ClaimIndex = a.ClaimIndex
    AND c.TraceId = v.TraceId AND c.SpanId = v.SpanId AND c.VerifierId = v.VerifierId
WHERE a.Version > c.Version
GROUP BY issue, label, age_days
"""  # noqa: S608 - our own names
# Of one verifier, FINAL leaves one row of each answer; of several, the latest verdict counts.
ONE_VERIFIER = """
SELECT uniqExact(VerifierId) <= 1 FROM rt4chart_verifications
WHERE Decision = 'verified' AND Timestamp > fromUnixTimestamp64Nano({since:Int64})
"""
DECIDED_CLAIMS_OF_ONE = f"""
SELECT ServiceName AS service, Route AS route, sum(Decided) AS claims,
    sum(Decided * IsChecked) AS checked
FROM (
    SELECT ServiceName, Route, v.Checked != 'no' AS IsChecked, {SAMPLE_WEIGHT}
        * (toFloat64(EntailedCount) + ContradictedCount + BaselessCount) AS Decided
    FROM rt4chart_verifications AS v FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND Timestamp > fromUnixTimestamp64Nano({{since:Int64}})
)
GROUP BY ServiceName, Route
"""  # noqa: S608 - our own names
DECIDED_CLAIMS = f"""
SELECT ServiceName AS service, Route AS route, sum(Decided) AS claims, sum(Checked) AS checked
FROM (
    SELECT ServiceName, Route, TraceId, SpanId,
        argMax({SAMPLE_WEIGHT}
            * (toFloat64(EntailedCount) + ContradictedCount + BaselessCount), Version) AS Decided,
        Decided * argMax(v.Checked != 'no', Version) AS Checked
    FROM rt4chart_verifications AS v FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND Timestamp > fromUnixTimestamp64Nano({{since:Int64}})
    GROUP BY ServiceName, Route, TraceId, SpanId
)
GROUP BY ServiceName, Route
"""  # noqa: S608 - our own names
# From the sums per five minutes. If several verifiers judged a day, the one with the most decided
# claims counts.
DECIDED_CLAIMS_BY_DAY = f"""
SELECT ServiceName AS service, Route AS route, least(Age, {{days:Int64}} - 1) AS age_days,
    max(Claims) AS claims
FROM (
    SELECT ServiceName, Route, VerifierId,
        intDiv(greatest({{now:Int64}} - toUnixTimestamp(Tick) * 1000000000, 0), {{day:Int64}})
            AS Age,
        sum({SAMPLE_WEIGHT} * Decided * Answers) AS Claims
    FROM rt4chart_route_5m
    WHERE Decision = 'verified' AND Tick > fromUnixTimestamp64Nano({{since:Int64}})
    GROUP BY ServiceName, Route, VerifierId, Age
)
GROUP BY service, route, Age
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class DayWeight:
    """Failures of one label on one day (0 is today): their sum of weights and their number.

    The label of misleading claims is `entailed`.
    """

    issue: int
    label: str
    age_days: int
    weight: float
    seen: int


def failures_by_day(client: Client, *, now_ns: int, days: int) -> list[DayWeight]:
    """The assigned failures of the last `days`; aliases are separate issues here."""
    parameters = _window_parameters(now_ns, days)
    return read(client, DayWeight, FAILURES_BY_DAY, parameters, settings=FINAL_PER_PARTITION)


@dataclass(frozen=True, slots=True)
class DecidedClaims:
    """A route's weighted decided claims; `checked` are those that could be found misleading."""

    claims: float = 0.0
    checked: float = 0.0


def decided_claims(
    client: Client, *, now_ns: int, days: int
) -> dict[tuple[str, str], DecidedClaims]:
    """The weighted decided claims of the last `days`, by (service, route)."""
    parameters = {"since": now_ns - days * DAY_NS}
    is_one = bool(read_int(client, ONE_VERIFIER, parameters))
    found = read_by(
        client,
        ("service", "route"),
        DecidedClaims,
        DECIDED_CLAIMS_OF_ONE if is_one else DECIDED_CLAIMS,
        parameters,
        settings=FINAL_PER_PARTITION,
    )
    return {route: claims for route, (claims,) in found.items()}


def decided_claims_by_day(
    client: Client, *, now_ns: int, days: int
) -> dict[tuple[str, str], tuple[float, ...]]:
    """The weighted decided claims of each of the last `days`, today first, by (service, route)."""
    found: dict[tuple[str, str], list[float]] = {}
    result = client.query(DECIDED_CLAIMS_BY_DAY, _window_parameters(now_ns, days))
    for row in result.named_results():
        daily = found.setdefault((row["service"], row["route"]), [0.0] * days)
        daily[row["age_days"]] += row["claims"]
    return {route: tuple(daily) for route, daily in found.items()}


def _window_parameters(now_ns: int, days: int) -> dict[str, object]:
    return {"now": now_ns, "since": now_ns - days * DAY_NS, "day": DAY_NS, "days": days}


HOUR_NS = 3600 * 1_000_000_000
IN_ROUTE_WINDOW = f"IsDeleted = 0 AND {OF_ROUTE} AND {in_time()}"
ROUTE_FAILURES = f"""
    SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, Timestamp,
        Evidence.DocId AS DocIds, if(CheckRate > 0, 1 / CheckRate, 0) AS CheckWeight, Version
    FROM rt4chart_claims FINAL
    WHERE {IN_ROUTE_WINDOW} AND {OF_VERIFIER}
      AND {{counted}}
"""  # noqa: S608 - our own names
ROUTE_ANSWERS = f"""
    SELECT TraceId, SpanId, {SAMPLE_WEIGHT} AS Weight,
        arrayFilter((id, given) -> given = 1, Passages.Id, Passages.IsContext) AS Context
    FROM rt4chart_verifications FINAL
    WHERE {IN_ROUTE_WINDOW} AND {OF_VERIFIER} AND Decision = 'verified'
"""  # noqa: S608
# The weighted failures per hour before and after, and the number of failures after.
BEFORE_AND_AFTER = """
    sumIf(v.Weight * c.CheckWeight, c.Timestamp < fromUnixTimestamp64Nano({at:Int64}))
        / {hours_before:Float64} AS before,
    sumIf(v.Weight * c.CheckWeight, c.Timestamp >= fromUnixTimestamp64Nano({at:Int64}))
        / {hours_after:Float64} AS after,
    countIf(c.Timestamp >= fromUnixTimestamp64Nano({at:Int64})) AS claims
"""
# One statement for issues and documents, which count the same failures. A document is a passage
# that the judge cited; a claim without a citation counts for all passages of its answer.
GROWTH_BY_PART = f"""
SELECT part.1 AS kind, part.2 AS id, {BEFORE_AND_AFTER}
FROM ({ROUTE_FAILURES}) AS c
INNER JOIN ({ROUTE_ANSWERS} AND {{failures}} > 0) AS v
    ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId
LEFT ANY JOIN (
    SELECT TraceId, SpanId, ClaimIndex, IssueId, Version
    FROM rt4chart_issue_assignments FINAL WHERE {IN_ROUTE_WINDOW}
) AS a ON a.TraceId = c.TraceId AND a.SpanId = c.SpanId AND a.ClaimIndex = c.ClaimIndex
ARRAY JOIN arrayConcat(
    if(a.Version > c.Version, [('issue', toString(a.IssueId))], []),
    arrayMap(
        doc -> ('document', doc), arrayDistinct(if(notEmpty(c.DocIds), c.DocIds, v.Context))
    )
) AS part
WHERE id != ''
GROUP BY kind, id HAVING claims > 0
ORDER BY after - before DESC, id
LIMIT {{limit:UInt32}} BY kind
"""  # noqa: S608
# Aliases are added to their root issue after the query, which therefore returns all issues.
MAX_PARTS = 10_000


@dataclass(frozen=True, slots=True)
class GrownIssue:
    """An issue's weighted failures per hour before and after, and its failures after."""

    id: int
    before: float
    after: float
    claims: int


@dataclass(frozen=True, slots=True)
class GrownDocument:
    """A passage's weighted failures per hour before and after, and its failures after."""

    id: str
    before: float
    after: float
    claims: int


@dataclass(frozen=True, slots=True)
class Growth:
    """Issues and documents with more failures per hour after than before, most grown first."""

    issues: tuple[GrownIssue, ...] = ()
    documents: tuple[GrownDocument, ...] = ()


def issue_growth(
    client: Client,
    scope: QueryScope,
    *,
    at_ns: int,
    limit: int = 5,
    measure: Measure = Measure.UNFAITHFUL,
) -> Growth:
    """At most `limit` issues and documents that grew; an alias counts in its root issue.

    Compares the scope before `at_ns` with the scope from then on, of the claims that the measure
    counts.
    """
    query = GROWTH_BY_PART.replace("{counted}", FAILED_CLAIM[measure])
    query = query.replace("{failures}", FAILED_COUNT[measure])
    parameters = {
        **scope.parameters,
        "at": at_ns,
        "hours_before": max(at_ns - scope.since_ns, 1) / HOUR_NS,
        "hours_after": max(scope.until_ns - at_ns, 1) / HOUR_NS,
        "limit": MAX_PARTS,
    }
    # An issue's id is read as text too, and converted when its aliases are added up.
    rows = read_by(client, "kind", GrownDocument, query, parameters, settings=FINAL_PER_PARTITION)
    documents = [row for row in rows.get("document", ()) if row.after > row.before]
    issues = _grown_issues(client, rows.get("issue", ()))
    return Growth(tuple(issues[:limit]), tuple(documents[:limit]))


def _grown_issues(client: Client, rows: Sequence[GrownDocument]) -> list[GrownIssue]:
    roots = aliases(client) if rows else {}
    found: dict[int, GrownIssue] = {}
    for row in rows:
        issue = roots.get(int(row.id), int(row.id))
        total = found.get(issue, GrownIssue(issue, 0.0, 0.0, 0))
        found[issue] = GrownIssue(
            issue, total.before + row.before, total.after + row.after, total.claims + row.claims
        )
    grown = [issue for issue in found.values() if issue.after > issue.before]
    return sorted(grown, key=lambda issue: (issue.before - issue.after, issue.id))
