"""Which issue a failure belongs to: one row a failure, and what an issue counts is read from them.

A row's version is that of the description it rests on, so writing it again changes nothing, and a
verdict that came later leaves it behind: such a row counts no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.descriptions import Partition
from rt4chart_collector.store.failures import Key
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of

MATCH, BIRTH, SPLIT = "match", "birth", "split"
ASSIGNMENTS = Layout(
    "rt4chart_issue_assignments",
    (
        ("Timestamp", "DateTime64(9, 'UTC')"),
        ("TraceId", "String"),
        ("SpanId", "String"),
        ("ClaimIndex", "Int32"),
        ("IssueId", "UInt64"),
        ("ServiceName", NAME),
        ("Route", NAME),
        ("Fingerprint", NAME),
        ("Distance", "Float32"),
        ("AssignedBy", NAME),
        ("Version", "UInt64"),
        ("IsDeleted", "UInt8"),
    ),
)
# Assignments that count, each with its claim and its answer: those whose claim is a failure in
# force and no newer than they are. `{{only}}` is a condition on IssueId, of the traces read too.
LIVE = """
SELECT a.IssueId AS IssueId, a.TraceId AS TraceId, a.SpanId AS SpanId, a.ClaimIndex AS ClaimIndex,
    a.Timestamp AS Timestamp, a.Distance AS Distance, a.ServiceName AS ServiceName,
    a.Route AS Route, a.Fingerprint AS Fingerprint, a.AssignedBy AS AssignedBy,
    a.Version AS Version, c.Model AS Model, c.DocIds AS DocIds, v.PromptVersion AS PromptVersion,
    v.Context AS Context, if(v.SampleRate > 0, 1 / v.SampleRate, 0) AS Weight
FROM (
    SELECT * FROM rt4chart_issue_assignments FINAL WHERE IsDeleted = 0 AND {only}
) AS a
INNER JOIN (
    SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, VerifierId, Model,
        Evidence.DocId AS DocIds, Version
    FROM rt4chart_claims FINAL
    WHERE Label IN ('contradicted', 'baseless') AND IsDeleted = 0 AND TraceId IN (
        SELECT TraceId FROM rt4chart_issue_assignments WHERE {only}
    )
) AS c ON c.TraceId = a.TraceId AND c.SpanId = a.SpanId AND c.ClaimIndex = a.ClaimIndex
INNER JOIN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId,
        argMax(SampleRate, Version) AS SampleRate,
        argMax(PromptVersion, Version) AS PromptVersion,
        argMax(arrayFilter((id, given) -> given = 1, Passages.Id, Passages.IsContext), Version)
            AS Context
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified' AND TraceId IN (
        SELECT TraceId FROM rt4chart_issue_assignments WHERE {only}
    )
    GROUP BY TraceId, SpanId
) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
WHERE a.Version > c.Version
"""
ONE = "IssueId IN {ids:Array(UInt64)}"
ALL = "1"
OF_ISSUES = f"""
SELECT TraceId, SpanId, ClaimIndex, toUnixTimestamp64Nano(Timestamp) AS Time, IssueId,
    ServiceName, Route, Fingerprint, Distance, AssignedBy, Version
FROM ({LIVE.format(only=ONE)})
ORDER BY indexOf({{shown:Array(String)}}, TraceId) = 0, indexOf({{shown:Array(String)}}, TraceId),
    Distance, TraceId, SpanId, ClaimIndex
LIMIT {{each:UInt32}} BY TraceId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
# Of an issue's failures those nearer to one point than to another.
NEARER = f"""
SELECT l.TraceId, l.SpanId, l.ClaimIndex, toUnixTimestamp64Nano(l.Timestamp), l.IssueId,
    l.ServiceName, l.Route, l.Fingerprint, cosineDistance(e.Embedding, {{to:Array(Float32)}}),
    l.AssignedBy, l.Version
FROM ({LIVE.format(only=ONE)}) AS l
INNER JOIN (
    SELECT TraceId, SpanId, ClaimIndex, Embedding FROM rt4chart_failure_embeddings FINAL
    WHERE EmbeddingModel = {{model:String}} AND Fingerprint != ''
) AS e ON e.TraceId = l.TraceId AND e.SpanId = l.SpanId AND e.ClaimIndex = l.ClaimIndex
WHERE cosineDistance(e.Embedding, {{to:Array(Float32)}})
    < cosineDistance(e.Embedding, {{than:Array(Float32)}})
ORDER BY l.TraceId, l.SpanId, l.ClaimIndex
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Assignment:
    """A failure's place; `distance` is the cosine distance from the issue's middle."""

    key: Key
    time_ns: int
    issue: int
    partition: Partition
    distance: float
    by: str
    version: int


def insert_assignments(client: Client, found: Sequence[Assignment]) -> None:
    """Write where failures belong; the higher version of one counts."""
    rows: list[Row] = [
        (one.time_ns, *one.key, one.issue, *one.partition, one.distance, one.by, one.version, 0)
        for one in found
    ]
    token = token_of("assignments", [(*one.key, one.issue, one.version) for one in found])
    ASSIGNMENTS.insert(client, rows, token=token)


def assignments_of(
    client: Client,
    issues: Sequence[int],
    *,
    limit: int = 1000,
    shown: Sequence[str] = (),
    a_trace: int = 1_000_000,
) -> list[Assignment]:
    """The failures of these issues, those of the traces in `shown` first, then the most typical.

    What an alias holds is under its own id: give an issue with its aliases. At most `a_trace` come
    of a trace. A failure whose verdict was replaced is none of them.
    """
    given: dict[str, object] = {"ids": list(issues), "limit": limit, "shown": list(shown)}
    given["each"] = a_trace
    return _assignments(client, OF_ISSUES, given)


def nearer(
    client: Client,
    issues: Sequence[int],
    *,
    model: str,
    to: Sequence[float],
    than: Sequence[float],
) -> list[Assignment]:
    """The failures of these issues that are nearer `to` the first point `than` the second."""
    given = {"ids": list(issues), "model": model, "to": list(to), "than": list(than)}
    return _assignments(client, NEARER, given)


def _assignments(client: Client, query: str, given: Mapping[str, object]) -> list[Assignment]:
    return [
        Assignment((trace, span, index), time_ns, issue, (service, route, mark), far, by, version)
        for trace, span, index, time_ns, issue, service, route, mark, far, by, version in (
            client.query(query, given).result_rows
        )
    ]
