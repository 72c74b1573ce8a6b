"""Spans in `otel_traces`, in the encodings of the OpenTelemetry Collector's ClickHouse exporter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from otel_rt4chart.core.semconv import SERVICE_NAME
from otel_rt4chart.spans.model.record import (
    Attributes,
    AttributeValue,
    SpanEvent,
    SpanLink,
    SpanRecord,
)
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of

# The exporter's table has no columns for these: OpenTelemetry specification,
# common/mapping-to-non-otlp.md, "Dropped Attributes Count" and "Dropped Events Count".
DROPPED_ATTRIBUTES = "otel.dropped_attributes_count"
DROPPED_EVENTS = "otel.dropped_events_count"
EVERY = 2**63 - 1
ATTRIBUTES = f"Map({NAME}, String)"
SPANS = Layout(
    "otel_traces",
    (
        ("Timestamp", "DateTime64(9)"),
        ("TraceId", "String"),
        ("SpanId", "String"),
        ("ParentSpanId", "String"),
        ("TraceState", "String"),
        ("SpanName", NAME),
        ("SpanKind", NAME),
        ("ServiceName", NAME),
        ("ResourceAttributes", ATTRIBUTES),
        ("ScopeName", "String"),
        ("ScopeVersion", "String"),
        ("SpanAttributes", ATTRIBUTES),
        ("Duration", "UInt64"),
        ("StatusCode", NAME),
        ("StatusMessage", "String"),
        ("Events.Timestamp", "Array(DateTime64(9))"),
        ("Events.Name", f"Array({NAME})"),
        ("Events.Attributes", f"Array({ATTRIBUTES})"),
        ("Links.TraceId", "Array(String)"),
        ("Links.SpanId", "Array(String)"),
        ("Links.TraceState", "Array(String)"),
        ("Links.Attributes", f"Array({ATTRIBUTES})"),
    ),
)
# The side table gives the time range of the traces, so that only their days are read.
SPANS_OF = f"""
SELECT {SPANS.selection} FROM otel_traces
WHERE TraceId IN {{ids:Array(String)}}
  AND Timestamp >= (SELECT min(Start) FROM otel_traces_trace_id_ts
                    WHERE TraceId IN {{ids:Array(String)}})
  AND Timestamp <= (SELECT max(End) + 1 FROM otel_traces_trace_id_ts
                    WHERE TraceId IN {{ids:Array(String)}})
ORDER BY TraceId, Timestamp, SpanId
LIMIT 1 BY TraceId, SpanId
LIMIT {{most:UInt64}}
"""  # noqa: S608 - names of columns alone, values are parameters


def insert_spans(client: Client, spans: Sequence[SpanRecord]) -> None:
    """Store the spans; when this returns they are on disk. The same batch twice is stored once."""
    token = token_of("spans", ((span.trace_id, span.span_id) for span in spans))
    SPANS.insert(client, [_row_from_span(span) for span in spans], token=token)


def spans_of(client: Client, trace_ids: Sequence[str], *, limit: int = EVERY) -> list[SpanRecord]:
    """All spans of the traces, each once, by trace and time, or the first `limit` of them.

    Attribute values are strings.
    """
    rows = client.query(SPANS_OF, {"ids": list(trace_ids), "most": limit}).result_rows
    return [_span_from_row(row) for row in rows]


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


def _dropped(span: SpanRecord) -> Attributes:
    counts = {DROPPED_ATTRIBUTES: span.dropped_attributes, DROPPED_EVENTS: span.dropped_events}
    return {name: count for name, count in counts.items() if count}


def _row_from_span(span: SpanRecord) -> Row:
    return (
        span.start_ns,
        span.trace_id,
        span.span_id,
        span.parent_span_id,
        span.trace_state,
        span.name,
        span.kind,
        text_of(span.resource.get(SERVICE_NAME, "")),
        _texts(span.resource),
        span.scope_name,
        span.scope_version,
        _texts({**span.attributes, **_dropped(span)}),
        max(span.end_ns - span.start_ns, 0),
        span.status,
        span.status_message,
        [event.time_ns for event in span.events],
        [event.name for event in span.events],
        [_texts(event.attributes) for event in span.events],
        [link.trace_id for link in span.links],
        [link.span_id for link in span.links],
        [link.trace_state for link in span.links],
        [_texts(link.attributes) for link in span.links],
    )


def _span_from_row(row: Sequence[Any]) -> SpanRecord:
    (start, trace_id, span_id, parent, state, name, kind, _, resource, scope, scope_version) = row[
        :11
    ]
    attributes, duration, status, message = row[11:15]
    times, names, texts = row[15:18]
    lost = [int(attributes.pop(name, 0)) for name in (DROPPED_ATTRIBUTES, DROPPED_EVENTS)]
    link_traces, link_spans, link_states, link_texts = row[18:]
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        name=name,
        start_ns=start,
        end_ns=start + duration,
        parent_span_id=parent,
        kind=kind,
        status=status,
        status_message=message,
        trace_state=state,
        attributes=attributes,
        events=tuple(map(SpanEvent, names, times, texts)),
        links=tuple(map(SpanLink, link_traces, link_spans, link_texts, link_states)),
        resource=resource,
        scope_name=scope,
        scope_version=scope_version,
        dropped_attributes=lost[0],
        dropped_events=lost[1],
    )
