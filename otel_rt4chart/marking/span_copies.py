"""Copies of ended spans with other attributes: an ended span is never touched."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import AnyValue, AttributeValue

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.reading.sdk import held

T = TypeVar("T")
Attributes = Mapping[str, AttributeValue]


def with_added(span: ReadableSpan, added: Mapping[str, str | bool | float]) -> ReadableSpan:
    """The span with these attributes too; its count of dropped ones stays."""
    other = _copy(span)
    attributes: dict[str, AnyValue] = {**held(span), **added}
    found = BoundedAttributes()
    if "_dict" in vars(found):
        # The SDK's own are clean; to have each looked at anew is half of what marking costs.
        found._dict, found.dropped = attributes, span.dropped_attributes
    else:
        found = _bounded(attributes, span.dropped_attributes)
    other._attributes = found
    return other


def rewritten(
    span: ReadableSpan, rewrite: Callable[[Attributes], Attributes], text: Callable[[str], str]
) -> ReadableSpan:
    """The span with the attributes of itself, its events and its links rewritten, and its status.

    `text` rewrites the status's description. Counts of what was dropped stay, and so do names.
    """
    other = _copy(span)
    other._attributes = _bounded(rewrite(span.attributes or {}), span.dropped_attributes)
    if span.events:
        events = (
            Event(one.name, _bounded(rewrite(one.attributes or {}), _dropped(one)), one.timestamp)
            for one in span.events
        )
        other._events = _listed(events, span.dropped_events)
    if span.links:
        links = (
            Link(one.context, _bounded(rewrite(one.attributes or {}), _dropped(one)))
            for one in span.links
        )
        other._links = _listed(links, span.dropped_links)
    if span.status.description:
        other._status = Status(span.status.status_code, text(span.status.description))
    return other


def textless(span: ReadableSpan) -> ReadableSpan:
    """The span with numbers and flags alone."""
    return rewritten(span, _numbers, lambda text: semconv.REDACTED)


def _copy(span: ReadableSpan) -> ReadableSpan:
    if type(span) is not ReadableSpan:
        return copy.copy(span)
    # What `copy` does in the end, at a third of the cost.
    other = object.__new__(ReadableSpan)
    vars(other).update(vars(span))
    return other


def _numbers(attributes: Attributes) -> Attributes:
    return {name: one for name, one in attributes.items() if isinstance(one, bool | int | float)}


def _listed(items: Iterable[T], dropped: int) -> BoundedList[T]:
    found: BoundedList[T] = BoundedList(None)
    found.extend(list(items))
    found.dropped = dropped
    return found


def _dropped(one: Event | Link) -> int:
    return getattr(one, "dropped_attributes", 0)


def _bounded(attributes: Attributes, dropped: int) -> BoundedAttributes:
    found = BoundedAttributes(attributes=dict(attributes))
    found.dropped = dropped
    return found
