"""Converts finished spans of the SDK into records, and answers questions about them before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id, format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.model.record import Attributes, SpanEvent, SpanLink, SpanRecord

# The application's callable: spans of a trace, local root first, to a route name.
RouteCallable = Callable[[Sequence[ReadableSpan]], str | None]


def checked_route(name: object) -> str:
    """The name that the application's callable returned; TypeError for other types."""
    if name is None or isinstance(name, str):
        return bounded_name(name or "")
    raise TypeError(f"route: expected a str or None, got {type(name).__name__}")


def is_verdict_span(span: ReadableSpan) -> bool:
    """True for our carrier spans; handmade spans belong to the application."""
    scope = span.instrumentation_scope
    return scope is not None and scope.name == semconv.SCOPE_NAME


def is_local_root(span: ReadableSpan) -> bool:
    """True for a span without a parent in this process."""
    parent = span.parent
    return parent is None or parent.is_remote


def record_from_readable(span: ReadableSpan) -> SpanRecord:
    """The record of an ended span; ValueError if it has not ended."""
    context = span.get_span_context()
    if context is None or span.start_time is None or span.end_time is None:
        raise ValueError(f"expected an ended span, {span.name!r} has not ended")
    scope = span.instrumentation_scope
    return SpanRecord(
        trace_id=format_trace_id(context.trace_id),
        span_id=format_span_id(context.span_id),
        name=span.name,
        start_ns=span.start_time,
        end_ns=span.end_time,
        parent_span_id=format_span_id(span.parent.span_id) if span.parent else "",
        kind=span.kind.name.capitalize(),
        status=span.status.status_code.name.capitalize(),
        status_message=span.status.description or "",
        trace_state=context.trace_state.to_header(),
        attributes=_attributes(span.attributes),
        events=tuple(
            SpanEvent(event.name, event.timestamp, _attributes(event.attributes))
            for event in span.events
        ),
        links=tuple(
            SpanLink(
                format_trace_id(link.context.trace_id),
                format_span_id(link.context.span_id),
                _attributes(link.attributes),
                link.context.trace_state.to_header(),
            )
            for link in span.links
        ),
        resource=_attributes(span.resource.attributes),
        scope_name=scope.name if scope else "",
        scope_version=(scope.version or "") if scope else "",
        dropped_attributes=span.dropped_attributes,
        dropped_events=span.dropped_events,
    )


def peek_record(span: ReadableSpan, is_kept: Callable[[str], bool]) -> SpanRecord:
    """Some attributes of an ended span without events, for immediate reading.

    It has no ids, times, links or resource.
    """
    attributes, scope = peek_attributes(span), span.instrumentation_scope
    return SpanRecord(
        *("", "", span.name, 0, 0),
        attributes={key: value for key, value in attributes.items() if is_kept(key)},
        scope_name=scope.name if scope else "",
    )


def has_events(span: ReadableSpan) -> bool:
    """True if the span has events; the SDK's public property makes a tuple of them."""
    found = getattr(span, "_events", None) if type(span) is ReadableSpan else None
    return bool(span.events if found is None else len(found))


def peek_attributes(span: ReadableSpan) -> Attributes:
    """The attributes of an ended span without a copy: only for immediate reading.

    The SDK's public property wraps the mapping in another one; its lookups cost several times as
    much, on the thread of the application.
    """
    if type(span) is ReadableSpan:  # a subclass may override the property
        found = getattr(span._attributes, "_dict", None)
        if type(found) is dict:
            return found
    return _attributes(span.attributes)


def _attributes(attributes: object) -> Attributes:
    """A copy, because the SDK's mapping belongs to the span."""
    return dict(attributes) if attributes else {}  # type: ignore[call-overload]
