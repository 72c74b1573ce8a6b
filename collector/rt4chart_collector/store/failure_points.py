"""Some failures of a time with their vectors, for a map: drawn by chance, the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.failures import Key
from rt4chart_collector.store.scope import OF_SCOPE, scope

WINDOW = f"""
    Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
    AND Timestamp < fromUnixTimestamp64Nano({{until:Int64}})
    AND {OF_SCOPE}
"""
# The space in which most of them lie: vectors of two spaces have no distance.
SPACE = f"""
SELECT EmbeddingModel, uniqExact(TraceId, SpanId, ClaimIndex) AS Described
FROM rt4chart_failure_embeddings WHERE Fingerprint != '' AND {WINDOW}
GROUP BY EmbeddingModel ORDER BY Described DESC, EmbeddingModel LIMIT 1
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
# A description is of the claim whose version it carries, plus one: of a later verdict it is none.
POINTS = f"""
WITH drawn AS ({DRAWN})
SELECT e.TraceId, e.SpanId, e.ClaimIndex, e.Embedding, c.Claim, toString(c.Label), c.ServiceName,
    c.Route, toUnixTimestamp64Nano(c.Timestamp), if(a.Version > c.Version, a.IssueId, 0)
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
CLAIM_LENGTH = 400


@dataclass(frozen=True, slots=True)
class Point:
    """A failure with its vector; `issue` is 0 where it has no place yet, a long claim is cut."""

    key: Key
    vector: Sequence[float]
    claim: str
    label: str
    service: str
    route: str
    time_ns: int
    issue: int


@dataclass(frozen=True, slots=True)
class Points:
    """Those drawn, in an order by chance; of how many failures, and how many of these described."""

    drawn: tuple[Point, ...]
    failures: int
    described: int
    model: str


def failure_points(
    client: Client,
    *,
    since_ns: int,
    until_ns: int,
    service: str | None = None,
    route: str | None = None,
    limit: int,
) -> Points:
    """At most `limit` failures of that time in the space in which most of them are described."""
    given: dict[str, object] = {
        "since": since_ns,
        "until": until_ns,
        **scope(service, route),
    }
    failures = int(client.query(COUNT, given).result_rows[0][0])
    spaces = client.query(SPACE, given).result_rows
    if not spaces:
        return Points((), failures, 0, "")
    model, described = spaces[0]
    rows = client.query(POINTS, {**given, "model": model, "limit": limit}).result_rows
    points = tuple(
        Point((trace, span, index), vector, claim[:CLAIM_LENGTH], label, of, on, at_ns, issue)
        for trace, span, index, vector, claim, label, of, on, at_ns, issue in rows
    )
    return Points(points, failures, described, model)
