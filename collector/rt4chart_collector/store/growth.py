"""What grew in a route: the issues and the documents that more of its failures are of than before.

A failure counts as often as its answer stands for others: 1 / its sample rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rt4chart_collector.store.answer import BY_DAY
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
# Both in one statement, for they are of the same failures. A document is a passage that the judge
# named; a claim without any stands for all that the answer had.
GROWN = f"""
SELECT part.1 AS Kind, part.2 AS Name, {COUNTED}
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
WHERE Name != ''
GROUP BY Kind, Name HAVING Claims > 0
ORDER BY After / {{hours_after:Float64}} - Before / {{hours_before:Float64}} DESC, Name
LIMIT {{limit:UInt32}} BY Kind
"""  # noqa: S608
# Aliases are counted together afterwards, so that all issues have to be there.
MOST = 10_000


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


@dataclass(frozen=True, slots=True)
class Grown:
    """What has more failures an hour after than before, the most grown first."""

    issues: tuple[GrownIssue, ...] = ()
    documents: tuple[GrownDocument, ...] = ()


def grown(client: Client, span: Span, *, limit: int = 5) -> Grown:
    """At most `limit` issues and documents; an alias counts in the issue that stands for it."""
    given = {**span.parameters, "limit": MOST}
    rows = client.query(GROWN, given, settings=BY_DAY).result_rows
    hours_before, hours_after = span.hours
    issues = [row for row in rows if row[0] == "issue"]
    documents = [
        GrownDocument(name, before / hours_before, after / hours_after, claims)
        for kind, name, before, after, claims in rows
        if kind == "document"
    ]
    return Grown(
        issues=tuple(_issues(client, span, issues)[:limit]),
        documents=tuple([one for one in documents if one.after > one.before][:limit]),
    )


def _issues(client: Client, span: Span, rows: Sequence[Sequence[Any]]) -> list[GrownIssue]:
    known = aliases(client) if rows else {}
    sums: dict[int, list[float]] = {}
    for _, name, before, after, claims in rows:
        found = sums.setdefault(known.get(int(name), int(name)), [0.0, 0.0, 0.0])
        for at, value in enumerate((before, after, claims)):
            found[at] += value
    hours_before, hours_after = span.hours
    counted = [
        GrownIssue(issue, before / hours_before, after / hours_after, int(claims))
        for issue, (before, after, claims) in sums.items()
    ]
    more = [one for one in counted if one.after > one.before]
    return sorted(more, key=lambda one: (one.before - one.after, one.id))
