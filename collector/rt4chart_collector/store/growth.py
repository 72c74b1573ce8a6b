"""What grew in a route: the issues and the documents that more of its failures are of than before.

A failure counts as often as its answer stands for others: 1 / its sample rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.issue_events import aliases

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
# What stands after the grouping: weighted failures before and after, and how many there are after.
COUNTED = """
    sumIf(v.Weight, c.Timestamp < fromUnixTimestamp64Nano({at:Int64})) AS Before,
    sumIf(v.Weight, c.Timestamp >= fromUnixTimestamp64Nano({at:Int64})) AS After,
    countIf(c.Timestamp >= fromUnixTimestamp64Nano({at:Int64})) AS Claims
"""
ISSUES = f"""
SELECT a.IssueId AS IssueId, {COUNTED}
FROM (
    SELECT TraceId, SpanId, ClaimIndex, IssueId, Version
    FROM rt4chart_issue_assignments FINAL WHERE {OF_ROUTE}
) AS a
INNER JOIN ({CLAIMS}) AS c
    ON c.TraceId = a.TraceId AND c.SpanId = a.SpanId AND c.ClaimIndex = a.ClaimIndex
INNER JOIN ({ANSWERS}) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId
WHERE a.Version > c.Version
GROUP BY IssueId HAVING Claims > 0
"""  # noqa: S608
# The passages that the judge named; a claim without any stands for all that the answer had.
DOCUMENTS = f"""
SELECT Document, {COUNTED}
FROM ({CLAIMS}) AS c
INNER JOIN ({ANSWERS}) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId
ARRAY JOIN arrayDistinct(if(notEmpty(c.DocIds), c.DocIds, v.Context)) AS Document
WHERE Document != ''
GROUP BY Document HAVING Claims > 0
ORDER BY After / {{hours_after:Float64}} - Before / {{hours_before:Float64}} DESC, Document
LIMIT {{limit:UInt32}}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Span:
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


def issues_grown(client: Client, span: Span, *, limit: int = 5) -> list[GrownIssue]:
    """The issues with more failures an hour after than before, the most grown first.

    An alias counts in the issue that stands for it.
    """
    known = aliases(client)
    sums: dict[int, list[float]] = {}
    for issue, before, after, claims in client.query(ISSUES, span.parameters).result_rows:
        root = known[issue] if issue in known else int(issue)
        found = sums.setdefault(root, [0.0, 0.0, 0.0])
        for at, value in enumerate((before, after, claims)):
            found[at] += value
    hours = span.hours
    grown = [
        GrownIssue(issue, before / hours[0], after / hours[1], int(claims))
        for issue, (before, after, claims) in sums.items()
    ]
    more = [one for one in grown if one.after > one.before]
    return sorted(more, key=lambda one: (one.before - one.after, one.id))[:limit]


def documents_grown(client: Client, span: Span, *, limit: int = 5) -> list[GrownDocument]:
    """The passages that are in more failures an hour after than before, the most grown first."""
    given: Mapping[str, object] = {**span.parameters, "limit": limit}
    rows: Sequence[Sequence[object]] = client.query(DOCUMENTS, given).result_rows
    hours = span.hours
    found = [
        GrownDocument(
            str(name), float(str(before)) / hours[0], float(str(after)) / hours[1], int(str(claims))
        )
        for name, before, after, claims in rows
    ]
    return [one for one in found if one.after > one.before]
