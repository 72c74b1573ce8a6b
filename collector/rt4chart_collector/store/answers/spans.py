"""Spans in `otel_traces`, in the encodings of the OpenTelemetry Collector's ClickHouse exporter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from otel_rt4chart.core.semconv import SERVICE_NAME
from otel_rt4chart.spans.model.record import (
    Attributes,
    AttributeValue,
    SpanEvent,
    SpanLink,
    SpanRecord,
)
from rt4chart_collector.store.engine.columns import ServiceName, SpanId, TraceId
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    NAME,
    RowTable,
    StoredAs,
    nested,
    read,
    read_int,
    token_of,
)

# The exporter's table has no columns for these: OpenTelemetry specification,
# common/mapping-to-non-otlp.md, "Dropped Attributes Count" and "Dropped Events Count".
DROPPED_ATTRIBUTES = "otel.dropped_attributes_count"
DROPPED_EVENTS = "otel.dropped_events_count"
EVERY = 2**63 - 1
ATTRIBUTES = f"Map({NAME}, String)"
ARRAY_OF_ATTRIBUTES = f"Array({ATTRIBUTES})"


def text_of(value: AttributeValue) -> str:
    """An attribute's value as the exporter writes it: arrays and maps as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)


def _texts(attributes: Attributes) -> dict[str, str]:
    return {key: text_of(value) for key, value in attributes.items()}


@dataclass(frozen=True, slots=True)
class SpanRow:
    """A span as the exporter's table has it: every value of an attribute is a string."""

    start_ns: Annotated[int, StoredAs("Timestamp", "DateTime64(9)")]
    trace_id: TraceId
    span_id: SpanId
    parent_span_id: Annotated[str, StoredAs("ParentSpanId", "String")]
    trace_state: Annotated[str, StoredAs("TraceState", "String")]
    name: Annotated[str, StoredAs("SpanName", NAME)]
    kind: Annotated[str, StoredAs("SpanKind", NAME)]
    service: ServiceName
    resource: Annotated[dict[str, str], StoredAs("ResourceAttributes", ATTRIBUTES)]
    scope_name: Annotated[str, StoredAs("ScopeName", "String")]
    scope_version: Annotated[str, StoredAs("ScopeVersion", "String")]
    attributes: Annotated[dict[str, str], StoredAs("SpanAttributes", ATTRIBUTES)]
    duration_ns: Annotated[int, StoredAs("Duration", "UInt64")]
    status: Annotated[str, StoredAs("StatusCode", NAME)]
    status_message: Annotated[str, StoredAs("StatusMessage", "String")]
    events: Annotated[
        tuple[SpanEvent, ...],
        nested(
            SpanEvent,
            name=StoredAs("Events.Name", f"Array({NAME})"),
            time_ns=StoredAs("Events.Timestamp", "Array(DateTime64(9))"),
            attributes=StoredAs("Events.Attributes", ARRAY_OF_ATTRIBUTES, write=_texts),
        ),
    ]
    links: Annotated[
        tuple[SpanLink, ...],
        nested(
            SpanLink,
            trace_id=StoredAs("Links.TraceId", "Array(String)"),
            span_id=StoredAs("Links.SpanId", "Array(String)"),
            attributes=StoredAs("Links.Attributes", ARRAY_OF_ATTRIBUTES, write=_texts),
            trace_state=StoredAs("Links.TraceState", "Array(String)"),
        ),
    ]


SPANS = RowTable("otel_traces", SpanRow)
# The side table gives the time range of the traces, so that only their days are read.
SPANS_OF = f"""
SELECT {SPANS.select()} FROM otel_traces
WHERE TraceId IN {{ids:Array(String)}}
  AND Timestamp >= (SELECT min(Start) FROM otel_traces_trace_id_ts
                    WHERE TraceId IN {{ids:Array(String)}})
  AND Timestamp <= (SELECT max(End) + 1 FROM otel_traces_trace_id_ts
                    WHERE TraceId IN {{ids:Array(String)}})
ORDER BY TraceId, Timestamp, SpanId
LIMIT 1 BY TraceId, SpanId
LIMIT {{most:UInt64}}
"""  # noqa: S608 - names of columns alone, values are parameters
COUNT = "SELECT uniqExact(SpanId) FROM otel_traces WHERE TraceId = {trace:String}"


def insert_spans(client: Client, spans: Sequence[SpanRecord]) -> None:
    """Store the spans; when this returns they are on disk. The same batch twice is stored once."""
    token = token_of("spans", ((span.trace_id, span.span_id) for span in spans))
    SPANS.insert(client, [_row_from_span(span) for span in spans], token=token)


def spans_of(client: Client, trace_ids: Sequence[str], *, limit: int = EVERY) -> list[SpanRecord]:
    """The spans of the traces, each once, by trace and time, at most `limit`.

    Attribute values are strings.
    """
    given = {"ids": list(trace_ids), "most": limit}
    return [_span_from_row(row) for row in read(client, SpanRow, SPANS_OF, given)]


def span_count(client: Client, trace_id: str) -> int:
    """How many spans of the trace are in the store."""
    return int(read_int(client, COUNT, {"trace": trace_id}))


def _dropped(span: SpanRecord) -> Attributes:
    counts = {DROPPED_ATTRIBUTES: span.dropped_attributes, DROPPED_EVENTS: span.dropped_events}
    return {name: count for name, count in counts.items() if count}


def _row_from_span(span: SpanRecord) -> SpanRow:
    return SpanRow(
        start_ns=span.start_ns,
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_span_id,
        trace_state=span.trace_state,
        name=span.name,
        kind=span.kind,
        service=text_of(span.resource.get(SERVICE_NAME, "")),
        resource=_texts(span.resource),
        scope_name=span.scope_name,
        scope_version=span.scope_version,
        attributes=_texts({**span.attributes, **_dropped(span)}),
        duration_ns=max(span.end_ns - span.start_ns, 0),
        status=span.status,
        status_message=span.status_message,
        events=tuple(span.events),
        links=tuple(span.links),
    )


def _span_from_row(row: SpanRow) -> SpanRecord:
    dropped_attributes = int(row.attributes.pop(DROPPED_ATTRIBUTES, 0))
    dropped_events = int(row.attributes.pop(DROPPED_EVENTS, 0))
    return SpanRecord(
        trace_id=row.trace_id,
        span_id=row.span_id,
        name=row.name,
        start_ns=row.start_ns,
        end_ns=row.start_ns + row.duration_ns,
        parent_span_id=row.parent_span_id,
        kind=row.kind,
        status=row.status,
        status_message=row.status_message,
        trace_state=row.trace_state,
        attributes=row.attributes,
        events=row.events,
        links=row.links,
        resource=row.resource,
        scope_name=row.scope_name,
        scope_version=row.scope_version,
        dropped_attributes=dropped_attributes,
        dropped_events=dropped_events,
    )
