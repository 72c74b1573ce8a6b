"""Columns that several tables share, as types of rows' fields, and conditions on them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Annotated

from otel_rt4chart.verify.core.rates import MIN_SAMPLE_RATE
from rt4chart_collector.store.engine.rows import LOW_CARDINALITY, TIME, StoredAs, group


def stated_confidence(stored: float) -> float | None:
    """The confidence of a column; None for NaN."""
    return None if isnan(stored) else stored


# The answer that a row is about: `StartNs` is the answer's start, which never changes.
StartNs = Annotated[int, StoredAs("Timestamp", TIME)]
TraceId = Annotated[str, StoredAs("TraceId", "String")]
SpanId = Annotated[str, StoredAs("SpanId", "String")]
ServiceName = Annotated[str, StoredAs("ServiceName", LOW_CARDINALITY)]
Route = Annotated[str, StoredAs("Route", LOW_CARDINALITY)]
VerifierId = Annotated[str, StoredAs("VerifierId", LOW_CARDINALITY)]
Environment = Annotated[str, StoredAs("Environment", LOW_CARDINALITY)]
Model = Annotated[str, StoredAs("Model", LOW_CARDINALITY)]
# A judge's confidence in [0, 1]; NaN is stored for one that states none.
StoredConfidence = Annotated[
    float | None,
    StoredAs("Confidence", "Float32", stated_confidence, lambda v: nan if v is None else v),
]
# Who did something, and their comment.
Actor = Annotated[str, StoredAs("Actor", "String")]
Note = Annotated[str, StoredAs("Note", "String")]
# ReplacingMergeTree keeps the row with the highest version of each sorting key, at the latest when
# FINAL reads it. A row with IsDeleted = 1 and the highest version deletes the others.
Version = Annotated[int, StoredAs("Version", "UInt64")]
IsDeleted = Annotated[bool, StoredAs("IsDeleted", "UInt8")]

# The sample rate of an answer and its weight in sums; earlier versions stored any rate.
SAMPLE_RATE = f"if(SampleRate > 0, greatest(SampleRate, {MIN_SAMPLE_RATE}), 0)"
SAMPLE_WEIGHT = f"if(SampleRate > 0, 1 / greatest(SampleRate, {MIN_SAMPLE_RATE}), 0)"

# An answer: its trace and span.
AnswerKey = tuple[str, str]
# A claim: trace and span of its answer, and its index in the answer.
ClaimKey = tuple[str, str, int]
# A partition of failures: service, route and fingerprint.
Partition = tuple[str, str, str]
StoredKey = Annotated[
    ClaimKey,
    group(
        tuple,
        trace=StoredAs("TraceId", "String"),
        span=StoredAs("SpanId", "String"),
        claim=StoredAs("ClaimIndex", "Int32"),
    ),
]
StoredPartition = Annotated[
    Partition,
    group(
        tuple,
        service=StoredAs("ServiceName", LOW_CARDINALITY),
        route=StoredAs("Route", LOW_CARDINALITY),
        fingerprint=StoredAs("Fingerprint", LOW_CARDINALITY),
    ),
]


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A row about a verifier's verdict on an answer; `start_ns` is the start of the answer."""

    start_ns: StartNs
    trace_id: TraceId
    span_id: SpanId
    service: ServiceName
    route: Route
    verifier: VerifierId

    @property
    def key(self) -> AnswerKey:
        """The answer's trace and span."""
        return (self.trace_id, self.span_id)

    @property
    def verdict_parameters(self) -> dict[str, object]:
        """The parameters of `OF_ANSWER` and `AT_START`, and the verifier."""
        return {
            "service": self.service,
            "route": self.route,
            "trace": self.trace_id,
            "span": self.span_id,
            "start": self.start_ns,
            "verifier": self.verifier,
        }


# Service and route begin the primary key of every table with answers. Where the five minutes of the
# answer's start follow, as in claims, a condition on it saves reading the other days.
OF_ANSWER = """ServiceName = {service:String} AND Route = {route:String}
  AND TraceId = {trace:String} AND SpanId = {span:String} AND IsDeleted = 0"""
AT_START = "Timestamp = fromUnixTimestamp64Nano({start:Int64})"
# ClickHouse's CRC32 equals zlib.crc32.
IN_SHARE = "CRC32(TraceId) % {shares:UInt32} IN {numbers:Array(UInt32)}"


@dataclass(frozen=True, slots=True)
class TraceShare:
    """The traces whose hash modulo `count` is in `numbers`; all traces by default.

    Several processes that search one store each use a disjoint share.
    """

    count: int = 1
    numbers: frozenset[int] = frozenset({0})

    def number_of(self, trace_id: str) -> int:
        """The hash of the trace modulo `count`."""
        return zlib.crc32(trace_id.encode()) % self.count

    @property
    def parameters(self) -> Mapping[str, object]:
        """The parameters of `IN_SHARE`."""
        return {"shares": self.count, "numbers": sorted(self.numbers)}


ALL_TRACES = TraceShare()
