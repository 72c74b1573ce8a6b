"""A reproducible random sample of a time's failures with their vectors, for a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.engine.columns import StoredKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.filters import OF_SCOPE, scope
from rt4chart_collector.store.engine.rows import read, read_int

CLAIM_LENGTH = 400
WINDOW = f"""
    Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
    AND Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
    AND {OF_SCOPE}
"""
# The embedding space of most of them: vectors of two spaces cannot be compared.
SPACE = f"""
SELECT EmbeddingModel AS model, uniqExact(TraceId, SpanId, ClaimIndex) AS described
FROM rt4chart_failure_embeddings WHERE Fingerprint != '' AND {WINDOW}
GROUP BY EmbeddingModel ORDER BY described DESC, EmbeddingModel LIMIT 1
"""  # noqa: S608 - our own names
COUNT = f"""
SELECT uniqExact(TraceId, SpanId, ClaimIndex) FROM rt4chart_claims FINAL
WHERE Label IN ('contradicted', 'baseless') AND IsDeleted = 0 AND {WINDOW}
"""  # noqa: S608
DRAWN = f"""
SELECT TraceId, SpanId, ClaimIndex FROM rt4chart_failure_embeddings
WHERE EmbeddingModel = {{model:String}} AND Fingerprint != '' AND {WINDOW}
GROUP BY TraceId, SpanId, ClaimIndex
ORDER BY cityHash64(TraceId, SpanId, ClaimIndex), TraceId, SpanId, ClaimIndex
LIMIT {{limit:UInt32}}
"""  # noqa: S608
# A description carries the version of its claim, plus one. It does not describe a later verdict.
POINTS = f"""
WITH drawn AS ({DRAWN})
SELECT e.TraceId AS key_trace, e.SpanId AS key_span, e.ClaimIndex AS key_claim,
    e.Embedding AS vector, leftUTF8(c.Claim, {CLAIM_LENGTH}) AS claim, toString(c.Label) AS label,
    c.ServiceName AS service, c.Route AS route, toUnixTimestamp64Nano(c.Timestamp) AS time_ns,
    if(a.Version > c.Version, a.IssueId, 0) AS issue
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Embedding, Version FROM rt4chart_failure_embeddings FINAL
    WHERE EmbeddingModel = {{model:String}} AND (TraceId, SpanId, ClaimIndex) IN drawn
) AS e
INNER JOIN (
    SELECT TraceId, SpanId, toInt32(ClaimIndex) AS ClaimIndex, Claim, Label, ServiceName, Route,
        Timestamp, Version
    FROM rt4chart_claims FINAL
    WHERE Label IN ('contradicted', 'baseless') AND IsDeleted = 0 AND {WINDOW}
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
    """A failure with its vector; `issue` is 0 where it has no place yet, a long claim is cut."""

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
    """The sample in random order, the number of failures, and how many of them are described."""

    drawn: tuple[FailurePoint, ...]
    failures: int
    described: int
    model: str


@dataclass(frozen=True, slots=True)
class _Space:
    model: str
    described: int


def failure_points(
    client: Client,
    *,
    since_ns: int,
    until_ns: int,
    service: str | None = None,
    route: str | None = None,
    limit: int,
) -> FailurePoints:
    """At most `limit` failures of that time in the space in which most of them are described."""
    given: dict[str, object] = {
        "since": since_ns,
        "until": until_ns,
        **scope(service, route),
    }
    failures = read_int(client, COUNT, given)
    space = next(iter(read(client, _Space, SPACE, given)), None)
    if space is None:
        return FailurePoints((), failures, 0, "")
    points = read(client, FailurePoint, POINTS, {**given, "model": space.model, "limit": limit})
    return FailurePoints(tuple(points), failures, space.described, space.model)
