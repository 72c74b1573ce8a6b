"""Matches failures with the issues of their partition, in the database, where the vectors are.

A partition is a service, a route and a fingerprint. Issues of another version of the fingerprint
match too: a changed rule makes no new issue. Descriptions are sorted by trace, so statements read
ranges of traces, which bounds their memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.findings.failure_kinds import EXPLAINED
from rt4chart_collector.store.engine.columns import ClaimKey, Partition, StoredKey, StoredPartition
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import in_time
from rt4chart_collector.store.issues.failures import failure_versions

IN_WINDOW = f"EmbeddingModel = {{model:String}} AND Fingerprint != '' AND {in_time()}"
IN_TRACES = "{trace} > {after:String} AND {trace} <= {upto:String}"
IN_TRACE_RANGE = IN_TRACES.replace("{trace}", "TraceId")
RANGE_END = f"""
SELECT count() AS found, max(TraceId) AS upto FROM (
    SELECT TraceId FROM rt4chart_failure_embeddings
    WHERE {IN_WINDOW} AND TraceId > {{after:String}}
    ORDER BY TraceId LIMIT {{page:UInt32}}
)
"""  # noqa: S608 - our own names
# A fingerprint is "VERSION:PATTERN"; the same as `pattern_of_fingerprint`. Up to version 5 the
# pattern of every unfaithful claim has its label.
PATTERN = (
    "replaceRegexpOne(substring({0}, position({0}, ':') + 1), "
    f"'^({Label.CONTRADICTED}|{Label.BASELESS}):({'|'.join(sorted(EXPLAINED))})$', "
    f"'{Measure.UNFAITHFUL}:\\\\2')"
)
# The current failures without an assignment, or with an assignment of an earlier verdict.
# PreviousIssue is the issue of that assignment if the fingerprint is the same.
UNASSIGNED_FAILURES = f"""
SELECT d.TraceId AS TraceId, d.SpanId AS SpanId, d.ClaimIndex AS ClaimIndex,
    d.Timestamp AS Timestamp, d.ServiceName AS ServiceName, d.Route AS Route,
    d.Fingerprint AS Fingerprint, d.Version AS Version, d.Embedding AS Embedding,
    {PATTERN.format("d.Fingerprint")} AS Pattern,
    if({PATTERN.format("h.Fingerprint")} = Pattern, h.IssueId, 0) AS PreviousIssue
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Timestamp, ServiceName, Route, Fingerprint, Version,
        Embedding
    FROM rt4chart_failure_embeddings FINAL
    WHERE {IN_WINDOW} AND {IN_TRACE_RANGE}
      AND (TraceId, SpanId, ClaimIndex, Version) IN ({failure_versions(IN_TRACES)})
) AS d
LEFT ANY JOIN (
    SELECT TraceId, SpanId, ClaimIndex, IssueId, Fingerprint, Version
    FROM rt4chart_issue_assignments FINAL WHERE IsDeleted = 0 AND {IN_TRACE_RANGE}
) AS h ON h.TraceId = d.TraceId AND h.SpanId = d.SpanId AND h.ClaimIndex = d.ClaimIndex
WHERE h.Version < d.Version
"""  # noqa: S608 - our own names
# A centroid of another embedding model matches nothing, and neither does an empty description:
# their distance is 2, the largest cosine distance.
NEAREST_ISSUES = f"""
SELECT e.TraceId AS key_trace, e.SpanId AS key_span, e.ClaimIndex AS key_claim,
    toUnixTimestamp64Nano(any(e.Timestamp)) AS time_ns, any(e.Version) AS version,
    any(e.ServiceName) AS partition_service, any(e.Route) AS partition_route,
    any(e.Fingerprint) AS partition_fingerprint, any(e.PreviousIssue) AS previous_issue,
    argMin(i.IssueId, (Distance, i.IssueId)) AS issue,
    min(ifNotFinite(round(cosineDistance(e.Embedding, arrayResize(i.Centroid, {{width:UInt32}})), 6)
        AS Away, 2) AS Distance) AS distance,
    cityHash64(e.TraceId, e.SpanId, e.ClaimIndex, {{seed:UInt64}}) AS draw
FROM ({UNASSIGNED_FAILURES}) AS e
LEFT JOIN (
    SELECT IssueId, Service, Route, {PATTERN.format("Fingerprint")} AS Pattern,
        if(length(Centroid) = {{width:UInt32}} AND EmbeddingModel IN ({{model:String}}, ''),
            Centroid, []) AS Centroid
    FROM rt4chart_issues FINAL WHERE IsDeleted = 0
) AS i ON i.Service = e.ServiceName AND i.Route = e.Route AND i.Pattern = e.Pattern
GROUP BY e.TraceId, e.SpanId, e.ClaimIndex
"""  # noqa: S608 - our own names
UNASSIGNED_VECTORS = f"""
SELECT TraceId AS key_trace, SpanId AS key_span, ClaimIndex AS key_claim,
    Embedding AS vector
FROM rt4chart_failure_embeddings FINAL
WHERE {IN_WINDOW}
  AND ServiceName = {{service:String}} AND Route = {{route:String}}
  AND Fingerprint = {{fingerprint:String}}
  AND cityHash64(TraceId, SpanId, ClaimIndex, {{seed:UInt64}}) <= {{max_draw:UInt64}}
  AND (TraceId, SpanId, ClaimIndex, Version) NOT IN (
    SELECT TraceId, SpanId, ClaimIndex, Version FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND ServiceName = {{service:String}} AND Route = {{route:String}}
  )
"""  # noqa: S608 - our own names
MEAN_VECTORS = f"""
SELECT a.IssueId AS issue, avgForEach(e.Embedding) AS mean, count() AS vectors
FROM (
    SELECT TraceId, SpanId, ClaimIndex, IssueId FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND IssueId IN {{ids:Array(UInt64)}}
      AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
) AS a
INNER JOIN (
    SELECT TraceId, SpanId, ClaimIndex, Embedding FROM rt4chart_failure_embeddings FINAL
    WHERE {IN_WINDOW}
) AS e ON e.TraceId = a.TraceId AND e.SpanId = a.SpanId AND e.ClaimIndex = a.ClaimIndex
GROUP BY a.IssueId
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class DescriptionWindow:
    """The descriptions of an embedding model of that width, within a time."""

    model: str
    width: int
    since_ns: int
    until_ns: int

    @property
    def parameters(self) -> Mapping[str, object]:
        """The parameters of the statements."""
        return {
            "model": self.model,
            "width": self.width,
            "since": self.since_ns,
            "until": self.until_ns,
        }


@dataclass(frozen=True, slots=True)
class UnassignedFailure:
    """A failure without an issue; `issue` is the nearest issue of its partition, 0 for none.

    `previous_issue` is its issue before its verdict was replaced, 0 for none. `draw` is a
    reproducible random number.
    """

    key: StoredKey
    time_ns: int
    version: int
    partition: StoredPartition
    previous_issue: int
    issue: int
    distance: float
    draw: int


@dataclass(frozen=True, slots=True)
class _Vector:
    key: StoredKey
    vector: Sequence[float]


def trace_ranges(
    client: Client, window: DescriptionWindow, *, page: int
) -> Iterator[tuple[str, str]]:
    """Ranges (after, upto] of the window's traces, each with about `page` descriptions."""
    after = ""
    while True:
        parameters = {**window.parameters, "after": after, "page": page}
        ((found, upto),) = client.query(RANGE_END, parameters).result_rows
        if not found:
            return
        yield after, upto
        after = upto


def unassigned_failures(
    client: Client, window: DescriptionWindow, traces: tuple[str, str], *, seed: int
) -> list[UnassignedFailure]:
    """The failures of a range of traces without an issue, each with its nearest issue."""
    after, upto = traces
    parameters = {**window.parameters, "after": after, "upto": upto, "seed": seed}
    return read(client, UnassignedFailure, NEAREST_ISSUES, parameters)


def unassigned_vectors(
    client: Client, window: DescriptionWindow, partition: Partition, *, seed: int, max_draw: int
) -> dict[ClaimKey, Sequence[float]]:
    """The vectors of a partition's unassigned failures with a draw of at most `max_draw`."""
    service, route, fingerprint = partition
    parameters: dict[str, object] = {"service": service, "route": route, "fingerprint": fingerprint}
    parameters = {**window.parameters, **parameters, "seed": seed, "max_draw": max_draw}
    return {row.key: row.vector for row in read(client, _Vector, UNASSIGNED_VECTORS, parameters)}


def mean_vectors(
    client: Client, window: DescriptionWindow, issues: Sequence[int]
) -> dict[int, tuple[Sequence[float], int]]:
    """The mean and the number of each issue's vectors in the window."""
    parameters = {**window.parameters, "ids": list(issues)}
    rows = client.query(MEAN_VECTORS, parameters).named_results()
    return {row["issue"]: (row["mean"], row["vectors"]) for row in rows}
