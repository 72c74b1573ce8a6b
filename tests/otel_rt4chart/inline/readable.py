"""Records of spans as the SDK hands them to a processor."""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode

from otel_rt4chart.spans.model.record import SpanRecord


def readable_spans(records: Iterable[SpanRecord]) -> list[ReadableSpan]:
    """The ended spans of a trace; a parent that is not among them is in another process."""
    known = {record.span_id for record in records}
    return [_readable(record, known) for record in records]


def _readable(record: SpanRecord, known: set[str]) -> ReadableSpan:
    attributes = BoundedAttributes(attributes=dict(record.attributes))
    attributes.dropped = record.dropped_attributes
    events: BoundedList[Event] = BoundedList(None)
    for event in record.events:
        events.append(Event(event.name, dict(event.attributes), event.time_ns))
    events.dropped = record.dropped_events
    parent = record.parent_span_id
    return ReadableSpan(
        record.name,
        _context(record.trace_id, record.span_id),
        parent=_context(record.trace_id, parent, is_remote=parent not in known) if parent else None,
        resource=Resource(dict(record.resource)),
        attributes=attributes,
        events=events,
        kind=SpanKind[record.kind.upper()],
        status=Status(StatusCode[record.status.upper()]),
        start_time=record.start_ns,
        end_time=record.end_ns,
        instrumentation_scope=InstrumentationScope(record.scope_name, record.scope_version),
    )


def _context(trace_id: str, span_id: str, *, is_remote: bool = False) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote)
