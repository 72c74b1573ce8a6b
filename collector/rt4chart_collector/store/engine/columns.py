"""Columns that several tables share, as types of rows' fields, and conditions on them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.rows import LOW_CARDINALITY, TIME, StoredAs, group

# The answer that a row is about: `StartNs` is the answer's start, which never changes.
StartNs = Annotated[int, StoredAs("Timestamp", TIME)]
TraceId = Annotated[str, StoredAs("TraceId", "String")]
SpanId = Annotated[str, StoredAs("SpanId", "String")]
ServiceName = Annotated[str, StoredAs("ServiceName", LOW_CARDINALITY)]
Route = Annotated[str, StoredAs("Route", LOW_CARDINALITY)]
VerifierId = Annotated[str, StoredAs("VerifierId", LOW_CARDINALITY)]
Environment = Annotated[str, StoredAs("Environment", LOW_CARDINALITY)]
Model = Annotated[str, StoredAs("Model", LOW_CARDINALITY)]
# Who did something, and their comment.
Actor = Annotated[str, StoredAs("Actor", "String")]
Note = Annotated[str, StoredAs("Note", "String")]
# ReplacingMergeTree keeps the row with the highest version of each sorting key, at the latest when
# FINAL reads it. A row with IsDeleted = 1 and the highest version deletes the others.
Version = Annotated[int, StoredAs("Version", "UInt64")]
IsDeleted = Annotated[bool, StoredAs("IsDeleted", "UInt8")]

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


# None matches any service or route; "" is an ordinary name.
IN_SCOPE = """({any_service:UInt8} OR ServiceName = {service:String})
      AND ({any_route:UInt8} OR Route = {route:String})"""
# ClickHouse's CRC32 equals zlib.crc32.
IN_SHARE = "CRC32(TraceId) % {shares:UInt32} IN {numbers:Array(UInt32)}"


def scope_parameters(service: str | None, route: str | None) -> dict[str, object]:
    """The parameters of `OF_SCOPE`."""
    return {
        "any_service": int(service is None),
        "service": service or "",
        "any_route": int(route is None),
        "route": route or "",
    }


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
        """The parameters of `OURS`."""
        return {"shares": self.count, "numbers": sorted(self.numbers)}


ALL_TRACES = TraceShare()
