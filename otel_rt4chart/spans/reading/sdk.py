"""The SDK's own finished spans: as records, and what is asked of them before that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_span_id, format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model.record import Attributes, SpanEvent, SpanLink, SpanRecord

# The application's callable: from spans of a trace, the local root first, to the route's name.
Route = Callable[[Sequence[ReadableSpan]], str | None]


def route_from(told: object) -> str:
    """What the application's callable returned; TypeError where that is no name."""
    if told is None or isinstance(told, str):
        return told or ""
    raise TypeError(f"route: expected a str or None, got {type(told).__name__}")


def is_ours(span: ReadableSpan) -> bool:
    """True for a span that carries a verdict of ours; those made by hand are the application's."""
    scope = span.instrumentation_scope
    return scope is not None and scope.name == semconv.SCOPE_NAME


def is_local_root(span: ReadableSpan) -> bool:
    """True for a span whose parent, if it has one, is in another process."""
    parent = span.parent
    return parent is None or parent.is_remote


def record_from_readable(span: ReadableSpan) -> SpanRecord:
    """The record of an ended span; ValueError for one that has not ended."""
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


def held(span: ReadableSpan) -> Attributes:
    """An ended span's attributes as it holds them: to look into, neither to keep nor to change.

    The SDK hands out a mapping around a mapping; a look into that costs several times as much.
    """
    if type(span) is ReadableSpan:  # one of another class may say something else
        found = getattr(span._attributes, "_dict", None)
        if type(found) is dict:
            return found
    return _attributes(span.attributes)


def _attributes(attributes: object) -> Attributes:
    """A copy: the SDK's mapping is bound to the span."""
    return dict(attributes) if attributes else {}  # type: ignore[call-overload]
