"""Reproducible random samples of failures with their vectors, of a time or of issues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.engine.columns import StoredKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read, read_int
from rt4chart_collector.store.engine.scope import OF_ROUTE, QueryScope, in_time
from rt4chart_collector.store.issues.failures import (
    IS_FAILURE,
    MAX_TIME_NS,
    SELECT_FAILURES,
    Failure,
)
from rt4chart_collector.store.issues.match_failures import IN_WINDOW, DescriptionWindow

CLAIM_LENGTH = 400
IN_SCOPE = f"{in_time()} AND {OF_ROUTE}"
# The embedding model with the most failures: vectors of two models cannot be compared.
LARGEST_SPACE = f"""
SELECT EmbeddingModel AS model, uniqExact(TraceId, SpanId, ClaimIndex) AS described
FROM rt4chart_failure_embeddings WHERE Fingerprint != '' AND {IN_SCOPE}
GROUP BY EmbeddingModel ORDER BY described DESC, EmbeddingModel LIMIT 1
"""  # noqa: S608 - our own names
FAILURE_COUNT = f"""
SELECT uniqExact(TraceId, SpanId, ClaimIndex) FROM rt4chart_claims FINAL
WHERE {IS_FAILURE} AND IsDeleted = 0 AND {IN_SCOPE}
"""  # noqa: S608
# The hash of the key gives an order that looks random and is the same in every run. A sample by
# rand() would change the map at each reload.
RANDOM_FAILURES = f"""
SELECT TraceId, SpanId, ClaimIndex FROM rt4chart_failure_embeddings
WHERE EmbeddingModel = {{model:String}} AND Fingerprint != '' AND {IN_SCOPE}
GROUP BY TraceId, SpanId, ClaimIndex
ORDER BY cityHash64(TraceId, SpanId, ClaimIndex), TraceId, SpanId, ClaimIndex
LIMIT {{limit:UInt32}}
"""  # noqa: S608
# A description has the version of its claim plus one; it does not describe a later verdict.
FAILURE_POINTS = f"""
WITH drawn AS ({RANDOM_FAILURES})
SELECT e.TraceId AS key_trace, e.SpanId AS key_span, e.ClaimIndex AS key_claim,
    e.Embedding AS vector, leftUTF8(c.Claim, {CLAIM_LENGTH}) AS claim,
    if(c.Label = 'entailed', toString(c.Status), toString(c.Label)) AS label,
    c.ServiceName AS service, c.Route AS route, toUnixTimestamp64Nano(c.Timestamp) AS time_ns,
    if(a.Version > c.Version, a.IssueId, 0) AS issue
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Embedding, Version FROM rt4chart_failure_embeddings FINAL
    WHERE EmbeddingModel = {{model:String}} AND (TraceId, SpanId, ClaimIndex) IN drawn
) AS e
INNER JOIN (
    SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, Claim, Label, Status, ServiceName,
        Route, Timestamp, Version
    FROM rt4chart_claims FINAL
    WHERE {IS_FAILURE} AND IsDeleted = 0 AND {IN_SCOPE}
      AND TraceId IN (SELECT TraceId FROM drawn)
    ORDER BY Version DESC LIMIT 1 BY TraceId, SpanId, ClaimIndex
) AS c ON c.TraceId = e.TraceId AND c.SpanId = e.SpanId AND c.ClaimIndex = e.ClaimIndex
LEFT ANY JOIN (
    SELECT TraceId, SpanId, ClaimIndex, IssueId, Version FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND TraceId IN (SELECT TraceId FROM drawn)
) AS a ON a.TraceId = e.TraceId AND a.SpanId = e.SpanId AND a.ClaimIndex = e.ClaimIndex
WHERE e.Version = c.Version + 1
ORDER BY cityHash64(e.TraceId, e.SpanId, e.ClaimIndex), e.TraceId, e.SpanId, e.ClaimIndex
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class FailurePoint:
    """A failure with its vector; `issue` is 0 if unassigned, `claim` the start of its text.

    `label` of a misleading claim is its status.
    """

    key: StoredKey
    vector: Sequence[float]
    claim: str
    label: str
    service: str
    route: str
    time_ns: int
    issue: int


@dataclass(frozen=True, slots=True)
class FailurePoints:
    """A sample in random order, and the numbers of all failures and of those with a vector."""

    drawn: tuple[FailurePoint, ...]
    failures: int
    described: int
    model: str


def failure_points(client: Client, scope: QueryScope, *, limit: int) -> FailurePoints:
    """At most `limit` failures of the scope with vectors of the most frequent embedding model.

    The scope's verifier is ignored: of several verdicts on an answer the latest counts.
    """
    failures = read_int(client, FAILURE_COUNT, scope.parameters)
    space = next(client.query(LARGEST_SPACE, scope.parameters).named_results(), None)
    if space is None:
        return FailurePoints((), failures, 0, "")
    model, described = space["model"], space["described"]
    parameters = {**scope.parameters, "model": model, "limit": limit}
    points = read(client, FailurePoint, FAILURE_POINTS, parameters)
    return FailurePoints(tuple(points), failures, described, model)


SAMPLED_KEYS = """
SELECT TraceId, SpanId, ClaimIndex FROM rt4chart_issue_assignments FINAL
WHERE IsDeleted = 0 AND IssueId IN {ids:Array(UInt64)}
  AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY cityHash64(TraceId, SpanId, ClaimIndex)
LIMIT {each:UInt32} BY IssueId
"""
# The sampled assignments with their issues.
SAMPLED_ASSIGNMENTS = SAMPLED_KEYS.replace("SELECT ", "SELECT IssueId, ", 1)
KEYS_BY_ISSUE = f"""
SELECT IssueId AS issue, TraceId AS key_trace, SpanId AS key_span, ClaimIndex AS key_claim
FROM ({SAMPLED_ASSIGNMENTS})
"""  # noqa: S608 - our own names
SAMPLED_FAILURES = f"""{SELECT_FAILURES}
  AND (c.TraceId, c.SpanId, toInt32(c.ClaimIndex)) IN ({SAMPLED_KEYS})
ORDER BY trace_id, span_id, claim_index
"""
SUPPORTED_CLAIMS = """
SELECT Claim AS claim FROM rt4chart_claims FINAL
WHERE ServiceName = {service:String} AND Route = {route:String} AND IsDeleted = 0
  AND Label = 'entailed' AND Status = 'supported'
ORDER BY cityHash64(TraceId, SpanId, ClaimIndex) LIMIT {limit:UInt32}
"""
SAMPLED_VECTORS = f"""
SELECT p.IssueId AS issue, e.Embedding AS vector
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Embedding FROM rt4chart_failure_embeddings FINAL
    WHERE {IN_WINDOW} AND (TraceId, SpanId, ClaimIndex) IN ({SAMPLED_KEYS})
) AS e
INNER JOIN ({SAMPLED_ASSIGNMENTS}) AS p
    ON p.TraceId = e.TraceId AND p.SpanId = e.SpanId AND p.ClaimIndex = e.ClaimIndex
ORDER BY cityHash64(e.TraceId, e.SpanId, e.ClaimIndex)
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class _IssueKey:
    issue: int
    key: StoredKey


def sampled_failures(
    client: Client, issues: Sequence[int], *, each: int
) -> dict[int, list[Failure]]:
    """At most `each` failures of each of these issues, by key."""
    parameters = {"ids": list(issues), "each": each, "since": 0, "until": MAX_TIME_NS}
    places = {row.key: row.issue for row in read(client, _IssueKey, KEYS_BY_ISSUE, parameters)}
    found: dict[int, list[Failure]] = {}
    for failure in read(client, Failure, SAMPLED_FAILURES, parameters):
        # A grouping run may have moved failures between the two statements.
        if (issue := places.get(failure.key)) is not None:
            found.setdefault(issue, []).append(failure)
    return found


def supported_claims(client: Client, service: str, route: str, *, limit: int) -> list[str]:
    """The texts of at most `limit` supported claims of a route, in random order."""
    parameters = {"service": service, "route": route, "limit": limit}
    return [row["claim"] for row in client.query(SUPPORTED_CLAIMS, parameters).named_results()]


def sampled_vectors(
    client: Client, window: DescriptionWindow, issues: Sequence[int], *, each: int
) -> dict[int, list[Sequence[float]]]:
    """Vectors of at most `each` failures of each of these issues, in random order."""
    parameters = {**window.parameters, "ids": list(issues), "each": each}
    found: dict[int, list[Sequence[float]]] = {}
    for row in client.query(SAMPLED_VECTORS, parameters).named_results():
        found.setdefault(row["issue"], []).append(row["vector"])
    return found
