"""Recorded spans as the SDK hands them to a processor."""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceState

from otel_rt4chart.spans.model.record import SpanRecord


def readable(record: SpanRecord) -> ReadableSpan:
    """The ended span of a record; a parent that is not in its trace is remote."""
    return ReadableSpan(
        record.name,
        context_of(record.trace_id, record.span_id, record.trace_state),
        parent=context_of(record.trace_id, record.parent_span_id)
        if record.parent_span_id
        else None,
        resource=Resource(dict(record.resource)),
        attributes=dict(record.attributes),
        events=[Event(one.name, dict(one.attributes), one.time_ns) for one in record.events],
        links=[
            Link(context_of(one.trace_id, one.span_id), dict(one.attributes))
            for one in record.links
        ],
        kind=SpanKind[record.kind.upper()],
        status=Status(StatusCode[record.status.upper()], record.status_message or None),
        start_time=record.start_ns,
        end_time=record.end_ns,
        instrumentation_scope=InstrumentationScope(record.scope_name, record.scope_version),
    )
