"""The assignments of failures to issues: one row a failure. Issues' counts are derived from them.

A row has the version of the description that it is based on, so writing it again changes nothing.
After a later verdict on the answer the row no longer counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.columns import (
    IsDeleted,
    StartNs,
    StoredKey,
    StoredPartition,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    RowTable,
    StoredAs,
    deduplication_token,
    read,
)

BY_MATCH, BY_BIRTH, BY_SPLIT = "match", "birth", "split"


@dataclass(frozen=True, slots=True)
class Assignment:
    """A failure's place; `distance` is the cosine distance from the issue's centre."""

    key: StoredKey
    time_ns: StartNs
    issue: Annotated[int, StoredAs("IssueId", "UInt64")]
    partition: StoredPartition
    distance: Annotated[float, StoredAs("Distance", "Float32")]
    by: Annotated[str, StoredAs("AssignedBy", LOW_CARDINALITY)]
    version: Version
    is_deleted: IsDeleted = False


ASSIGNMENTS = RowTable("rt4chart_issue_assignments", Assignment)
LIVE_FIELDS = ("key", "time_ns", "issue", "partition", "by", "version", "distance")
# The assignments that count, each with its claim and answer: the claim is a failure in force and no
# newer than the assignment. `{{only}}` is a condition on IssueId, which limits the traces too.
LIVE_ASSIGNMENTS = """
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
GIVEN_ISSUES = "IssueId IN {ids:Array(UInt64)}"
EVERY_ISSUE = "1"
ASSIGNMENTS_OF_ISSUES = f"""
SELECT {ASSIGNMENTS.select(*LIVE_FIELDS)} FROM ({LIVE_ASSIGNMENTS.format(only=GIVEN_ISSUES)})
ORDER BY indexOf({{shown:Array(String)}}, TraceId) = 0, indexOf({{shown:Array(String)}}, TraceId),
    Distance, TraceId, SpanId, ClaimIndex
LIMIT {{each:UInt32}} BY TraceId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
# Of an issue's failures those nearer to one point than to another.
NEARER_ASSIGNMENTS = f"""
SELECT {ASSIGNMENTS.select(*LIVE_FIELDS[:-1], table="l")},
    cosineDistance(e.Embedding, {{to:Array(Float32)}}) AS distance
FROM ({LIVE_ASSIGNMENTS.format(only=GIVEN_ISSUES)}) AS l
INNER JOIN (
    SELECT TraceId, SpanId, ClaimIndex, Embedding FROM rt4chart_failure_embeddings FINAL
    WHERE EmbeddingModel = {{model:String}} AND Fingerprint != ''
) AS e ON e.TraceId = l.TraceId AND e.SpanId = l.SpanId AND e.ClaimIndex = l.ClaimIndex
WHERE cosineDistance(e.Embedding, {{to:Array(Float32)}})
    < cosineDistance(e.Embedding, {{than:Array(Float32)}})
ORDER BY l.TraceId, l.SpanId, l.ClaimIndex
"""  # noqa: S608 - our own names


def insert_assignments(client: Client, found: Sequence[Assignment]) -> None:
    """Write where failures belong; the higher version of one counts."""
    token = deduplication_token(
        "assignments", [(*one.key, one.issue, one.version) for one in found]
    )
    ASSIGNMENTS.insert(client, found, token=token)


def assignments_of(
    client: Client,
    issues: Sequence[int],
    *,
    limit: int = 1000,
    shown: Sequence[str] = (),
    a_trace: int = 1_000_000,
) -> list[Assignment]:
    """The failures of these issues, those of the traces in `shown` first, then the most typical.

    The failures of an alias are under its own id: pass an issue with its aliases. At most `a_trace`
    come from one trace. Failures whose verdict was replaced are left out.
    """
    given: dict[str, object] = {"ids": list(issues), "limit": limit, "shown": list(shown)}
    given["each"] = a_trace
    return read(client, Assignment, ASSIGNMENTS_OF_ISSUES, given)


def nearer_assignments(
    client: Client,
    issues: Sequence[int],
    *,
    model: str,
    to: Sequence[float],
    than: Sequence[float],
) -> list[Assignment]:
    """The failures of these issues that are nearer `to` the first point `than` the second."""
    given = {"ids": list(issues), "model": model, "to": list(to), "than": list(than)}
    return read(client, Assignment, NEARER_ASSIGNMENTS, given)
