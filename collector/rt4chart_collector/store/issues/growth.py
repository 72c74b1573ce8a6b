"""The issues and documents of a route with more failures than before.

A failure counts 1 / the sample rate of its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.answers.verifications import BY_DAY
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.issue_events import aliases

HOUR_NS = 3600 * 1_000_000_000
OF_ROUTE = """
    IsDeleted = 0 AND ServiceName = {service:String} AND Route = {route:String}
      AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
      AND Timestamp < fromUnixTimestamp64Nano({until:Int64})"""
CLAIMS = f"""
    SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, Timestamp,
        Evidence.DocId AS DocIds, Version
    FROM rt4chart_claims FINAL
    WHERE {OF_ROUTE} AND VerifierId = {{verifier:String}}
      AND Label IN ('contradicted', 'baseless')
"""  # noqa: S608 - our own names
ANSWERS = f"""
    SELECT TraceId, SpanId, if(SampleRate > 0, 1 / SampleRate, 0) AS Weight,
        arrayFilter((id, given) -> given = 1, Passages.Id, Passages.IsContext) AS Context
    FROM rt4chart_verifications FINAL
    WHERE {OF_ROUTE} AND VerifierId = {{verifier:String}} AND Decision = 'verified'
"""  # noqa: S608
# The weighted failures before and after, and the number of failures after.
COUNTED = """
    sumIf(v.Weight, c.Timestamp < fromUnixTimestamp64Nano({at:Int64})) AS before,
    sumIf(v.Weight, c.Timestamp >= fromUnixTimestamp64Nano({at:Int64})) AS after,
    countIf(c.Timestamp >= fromUnixTimestamp64Nano({at:Int64})) AS claims
"""
# One statement for both, because they count the same failures. A document is a passage that the
# judge named; a claim without one counts for all passages of the answer.
GROWN = f"""
SELECT part.1 AS kind, part.2 AS name, {COUNTED}
FROM ({CLAIMS}) AS c
INNER JOIN ({ANSWERS}) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId
LEFT ANY JOIN (
    SELECT TraceId, SpanId, ClaimIndex, IssueId, Version
    FROM rt4chart_issue_assignments FINAL WHERE {OF_ROUTE}
) AS a ON a.TraceId = c.TraceId AND a.SpanId = c.SpanId AND a.ClaimIndex = c.ClaimIndex
ARRAY JOIN arrayConcat(
    if(a.Version > c.Version, [('issue', toString(a.IssueId))], []),
    arrayMap(
        id -> ('document', id), arrayDistinct(if(notEmpty(c.DocIds), c.DocIds, v.Context))
    )
) AS part
WHERE name != ''
GROUP BY kind, name HAVING claims > 0
ORDER BY after / {{hours_after:Float64}} - before / {{hours_before:Float64}} DESC, name
LIMIT {{limit:UInt32}} BY kind
"""  # noqa: S608
# Aliases are added up after the query, which therefore has to return all issues.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class GrowthWindow:
    """A route as one verifier saw it, from `since_ns` to `at_ns` (before) and to `until_ns`."""

    service: str
    route: str
    verifier: str
    since_ns: int
    at_ns: int
    until_ns: int

    @property
    def hours(self) -> tuple[float, float]:
        """How long before and after are."""
        before, after = self.at_ns - self.since_ns, self.until_ns - self.at_ns
        return max(before, 1) / HOUR_NS, max(after, 1) / HOUR_NS

    @property
    def parameters(self) -> dict[str, object]:
        """The values of the statements."""
        before, after = self.hours
        return {
            "service": self.service,
            "route": self.route,
            "verifier": self.verifier,
            "since": self.since_ns,
            "at": self.at_ns,
            "until": self.until_ns,
            "hours_before": before,
            "hours_after": after,
        }


@dataclass(frozen=True, slots=True)
class GrownIssue:
    """An issue: weighted failures an hour before and after, and how many were seen after."""

    id: int
    before: float
    after: float
    claims: int


@dataclass(frozen=True, slots=True)
class GrownDocument:
    """The same of a passage, by its id."""

    id: str
    before: float
    after: float
    claims: int


@dataclass(frozen=True, slots=True)
class Growth:
    """What has more failures an hour after than before, the most grown first."""

    issues: tuple[GrownIssue, ...] = ()
    documents: tuple[GrownDocument, ...] = ()


@dataclass(frozen=True, slots=True)
class _Grown:
    kind: str
    name: str
    before: float
    after: float
    claims: int


def grown(client: Client, span: GrowthWindow, *, limit: int = 5) -> Growth:
    """At most `limit` issues and documents; an alias counts in the issue that stands for it."""
    given = {**span.parameters, "limit": MOST}
    rows = read(client, _Grown, GROWN, given, settings=BY_DAY)
    hours_before, hours_after = span.hours
    issues = [row for row in rows if row.kind == "issue"]
    documents = [
        GrownDocument(row.name, row.before / hours_before, row.after / hours_after, row.claims)
        for row in rows
        if row.kind == "document"
    ]
    return Growth(
        issues=tuple(_issues(client, span, issues)[:limit]),
        documents=tuple([one for one in documents if one.after > one.before][:limit]),
    )


def _issues(client: Client, span: GrowthWindow, rows: Sequence[_Grown]) -> list[GrownIssue]:
    known = aliases(client) if rows else {}
    hours_before, hours_after = span.hours
    found: dict[int, GrownIssue] = {}
    for row in rows:
        issue = known.get(int(row.name), int(row.name))
        so_far = found.get(issue, GrownIssue(issue, 0.0, 0.0, 0))
        found[issue] = GrownIssue(
            issue,
            so_far.before + row.before / hours_before,
            so_far.after + row.after / hours_after,
            so_far.claims + row.claims,
        )
    more = [one for one in found.values() if one.after > one.before]
    return sorted(more, key=lambda one: (one.before - one.after, one.id))
