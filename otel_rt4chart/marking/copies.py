"""Copies of ended spans with other attributes: an ended span is never touched."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.util.types import AttributeValue

Attributes = Mapping[str, AttributeValue]


def with_attributes(span: ReadableSpan, attributes: Attributes) -> ReadableSpan:
    """The span with those attributes; its count of dropped ones stays."""
    other = copy.copy(span)
    other._attributes = _bounded(attributes, span.dropped_attributes)
    return other


def rewritten(span: ReadableSpan, rewrite: Callable[[Attributes], Attributes]) -> ReadableSpan:
    """The span with its own and its events' attributes rewritten; counts of dropped ones stay."""
    other = with_attributes(span, rewrite(span.attributes or {}))
    if span.events:
        events: BoundedList[Event] = BoundedList(None)
        for event in span.events:
            changed = _bounded(rewrite(event.attributes or {}), event.dropped_attributes)
            events.append(Event(event.name, changed, event.timestamp))
        events.dropped = span.dropped_events
        other._events = events
    return other


def _bounded(attributes: Attributes, dropped: int) -> BoundedAttributes:
    found = BoundedAttributes(attributes=dict(attributes))
    found.dropped = dropped
    return found
