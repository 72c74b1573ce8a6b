"""Assignments of failures to issues, one row for each failure; issues' figures derive from them.

A row has the version of the description that it is based on, so a repeated write changes nothing.
It no longer counts after a later verdict on the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.columns import (
    SAMPLE_RATE,
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
    batch_token,
    read,
)
from rt4chart_collector.store.issues.failures import IS_FAILURE

BY_MATCH, BY_BIRTH, BY_SPLIT = "match", "birth", "split"


@dataclass(frozen=True, slots=True)
class Assignment:
    """A failure's issue; `distance` is the cosine distance from the issue's centroid."""

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
# Service and route begin the primary key, and an issue is of few routes: the others are not read.
ON_ROUTES = """(ServiceName, Route) IN (
        SELECT ServiceName, Route FROM rt4chart_issue_assignments WHERE {only}
    )"""
# The assignments that count, each with its claim and answer: the claim is a current failure and not
# newer than the assignment. `only` is a condition on IssueId, which limits the traces too. The
# weight is 1 / (the answer's sample rate times the rate of the check that found it).
LIVE_ASSIGNMENTS = f"""
SELECT a.IssueId AS IssueId, a.TraceId AS TraceId, a.SpanId AS SpanId, a.ClaimIndex AS ClaimIndex,
    a.Timestamp AS Timestamp, a.Distance AS Distance, a.ServiceName AS ServiceName,
    a.Route AS Route, a.Fingerprint AS Fingerprint, a.AssignedBy AS AssignedBy,
    a.Version AS Version, c.VerifierId AS VerifierId, c.Model AS Model, c.DocIds AS DocIds,
    v.PromptVersion AS PromptVersion, v.Context AS Context, c.Confidence AS Confidence,
    if(v.Rate * c.CheckRate > 0, 1 / (v.Rate * c.CheckRate), 0) AS Weight
FROM (
    SELECT * FROM rt4chart_issue_assignments FINAL WHERE IsDeleted = 0 AND {{only}}
) AS a
INNER JOIN (
    SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, VerifierId, Model, Confidence,
        Evidence.DocId AS DocIds, CheckRate, Version
    FROM rt4chart_claims FINAL
    WHERE {{is_failure}} AND IsDeleted = 0 AND TraceId IN (
        SELECT TraceId FROM rt4chart_issue_assignments WHERE {{only}}
    ) AND {ON_ROUTES}
) AS c ON c.TraceId = a.TraceId AND c.SpanId = a.SpanId AND c.ClaimIndex = a.ClaimIndex
INNER JOIN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId,
        argMax({SAMPLE_RATE}, Version) AS Rate,
        argMax(PromptVersion, Version) AS PromptVersion,
        argMax(arrayFilter((id, given) -> given = 1, Passages.Id, Passages.IsContext), Version)
            AS Context
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified' AND TraceId IN (
        SELECT TraceId FROM rt4chart_issue_assignments WHERE {{only}}
    ) AND {ON_ROUTES}
    GROUP BY TraceId, SpanId
) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
WHERE a.Version > c.Version
""".replace("{is_failure}", IS_FAILURE)  # noqa: S608 - our own names
GIVEN_ISSUES = "IssueId IN {ids:Array(UInt64)}"
EVERY_ISSUE = "1"
ASSIGNMENTS_OF_ISSUES = f"""
SELECT {ASSIGNMENTS.select(*LIVE_FIELDS)} FROM ({LIVE_ASSIGNMENTS.format(only=GIVEN_ISSUES)})
ORDER BY indexOf({{examples:Array(String)}}, TraceId) = 0,
    indexOf({{examples:Array(String)}}, TraceId),
    round(Distance, 3), Confidence DESC, TraceId, SpanId, ClaimIndex
LIMIT {{each:UInt32}} BY TraceId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
# The failures of issues that are nearer to one vector than to another.
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
    """Write assignments; of several rows of a failure the highest version counts."""
    token = batch_token("assignments", [(*row.key, row.issue, row.version) for row in found])
    ASSIGNMENTS.insert(client, found, token=token)


def assignments_of(
    client: Client,
    issues: Sequence[int],
    *,
    limit: int = 1000,
    examples: Sequence[str] = (),
    per_trace: int = 1_000_000,
) -> list[Assignment]:
    """The failures of these issues: the traces in `examples` first, then the most typical.

    Of equally typical ones, those come first of which the judge is most certain.

    The failures of an alias are stored under its own id: pass an issue with its aliases. At most
    `per_trace` come from one trace. Failures with a replaced verdict are left out.
    """
    parameters: dict[str, object] = {
        "ids": list(issues),
        "limit": limit,
        "examples": list(examples),
    }
    parameters["each"] = per_trace
    return read(client, Assignment, ASSIGNMENTS_OF_ISSUES, parameters)


def nearer_assignments(
    client: Client,
    issues: Sequence[int],
    *,
    model: str,
    to: Sequence[float],
    than: Sequence[float],
) -> list[Assignment]:
    """The failures of these issues that are nearer `to` the first vector `than` the second."""
    parameters = {"ids": list(issues), "model": model, "to": list(to), "than": list(than)}
    return read(client, Assignment, NEARER_ASSIGNMENTS, parameters)
