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
# Who did something, and the comment with which he did it.
Actor = Annotated[str, StoredAs("Actor", "String")]
Note = Annotated[str, StoredAs("Note", "String")]
# Of the rows with one sorting key the highest version counts; a deleted one hides the others.
Version = Annotated[int, StoredAs("Version", "UInt64")]
IsDeleted = Annotated[bool, StoredAs("IsDeleted", "UInt8")]

# A claim by its answer's trace and span and its place in the answer.
ClaimKey = tuple[str, str, int]
# What a failure is grouped within: its service, route and fingerprint.
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


# None is any service or route; "" is a name like any other.
IN_SCOPE = """({any_service:UInt8} OR ServiceName = {service:String})
      AND ({any_route:UInt8} OR Route = {route:String})"""
# The engine's CRC32 is zlib's.
IN_SHARE = "CRC32(TraceId) % {shares:UInt32} IN {ours:Array(UInt32)}"


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
    """The traces whose hash modulo `count` is among `ours`; all of them by default.

    Several processes that search one store each take their own share.
    """

    count: int = 1
    ours: frozenset[int] = frozenset({0})

    def part_of(self, trace_id: str) -> int:
        """The number that decides."""
        return zlib.crc32(trace_id.encode()) % self.count

    @property
    def parameters(self) -> Mapping[str, object]:
        """The parameters of `OURS`."""
        return {"shares": self.count, "ours": sorted(self.ours)}


ALL_TRACES = TraceShare()
