"""The columns that several tables share, as types of their rows' fields."""

from __future__ import annotations

from typing import Annotated

from rt4chart_collector.store.engine.rows import NAME, TIME, StoredAs, group

# The answer that a row is about: `StartNs` is the answer's start, which never changes.
StartNs = Annotated[int, StoredAs("Timestamp", TIME)]
TraceId = Annotated[str, StoredAs("TraceId", "String")]
SpanId = Annotated[str, StoredAs("SpanId", "String")]
ServiceName = Annotated[str, StoredAs("ServiceName", NAME)]
Route = Annotated[str, StoredAs("Route", NAME)]
VerifierId = Annotated[str, StoredAs("VerifierId", NAME)]
Environment = Annotated[str, StoredAs("Environment", NAME)]
Model = Annotated[str, StoredAs("Model", NAME)]
# Who did something, and the comment with which he did it.
Actor = Annotated[str, StoredAs("Actor", "String")]
Note = Annotated[str, StoredAs("Note", "String")]
# Of the rows with one sorting key the highest version counts; a deleted one hides the others.
Version = Annotated[int, StoredAs("Version", "UInt64")]
IsDeleted = Annotated[bool, StoredAs("IsDeleted", "UInt8")]

# A claim by its answer's trace and span and its place in the answer.
Key = tuple[str, str, int]
# What a failure is grouped within: its service, route and fingerprint.
Partition = tuple[str, str, str]
StoredKey = Annotated[
    Key,
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
        service=StoredAs("ServiceName", NAME),
        route=StoredAs("Route", NAME),
        fingerprint=StoredAs("Fingerprint", NAME),
    ),
]
