"""Shortens the values of a span that are too large to be stored. Pure: depends on the span alone.

What is lost is counted in the span: shortened values in `shortened_attributes`, attributes that had
to go in `dropped_attributes`, events and links in `dropped_events`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from otel_rt4chart.spans.model.record import (
    Attributes,
    AttributeValue,
    SpanEvent,
    SpanLink,
    SpanRecord,
)
from otel_rt4chart.spans.model.shortening import shorten_text
from otel_rt4chart.spans.model.values import as_text

# A span of an answer may have its input, its output, its prompt and the prompt's variables.
VALUES_PER_SPAN = 4
# The engine loads all names of a column at once, up to 8,192 of them.
NAME_BYTES = 4 * 2**10
NAME_CHARS = NAME_BYTES // 4
# What an attribute, an event or a link takes beside its texts; what is left of a value at least.
ITEM_BYTES, LEAST_BYTES = 64, 256
# A character may become six in nested JSON, or four bytes in UTF-8.
ESCAPED, ENCODED = 6, 4
# Why a text was shortened, or an item dropped: the reasons of the metric.
VALUE, SPAN, NAME, DROPPED = "value", "span", "name", "dropped"


@dataclass(slots=True)
class SpanRoom:
    """What a span may still take: `cap` bytes a value, and `left` bytes in all.

    `counts` are the shortened texts and dropped items by reason.
    """

    value_bytes: int
    cap: int
    left: int
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def shortened(self) -> int:
        """How many texts were shortened."""
        return self.counts.total() - self.counts[DROPPED]

    def name(self, name: str) -> str:
        """A name or an id, shortened if it is too long."""
        short = shorten_text(name, NAME_BYTES)
        self.counts[NAME] += short is not name
        self.left -= byte_size(short)
        return short

    def text(self, text: str) -> str:
        """A value, shortened if it is too large."""
        short = shorten_text(text, self.cap)
        if short is not text:
            self.counts[VALUE if byte_size(text) > self.value_bytes else SPAN] += 1
        self.left -= byte_size(short)
        return short

    def attributes(self, attributes: Attributes) -> dict[str, AttributeValue]:
        """The attributes whose names are not too long, as far as there is room."""
        found: dict[str, AttributeValue] = {}
        for key, value in attributes.items():
            key_bytes, size = byte_size(key), min(byte_size(value), self.cap)
            if key_bytes <= NAME_BYTES and ITEM_BYTES + key_bytes + size <= self.left:
                found[key] = self.text(value) if isinstance(value, str) else value
                self.left -= ITEM_BYTES + key_bytes
        self.counts[DROPPED] += len(attributes) - len(found)
        return found

    def event(self, event: SpanEvent) -> SpanEvent | None:
        """The event; None if there is no room for it."""
        if not self._has_room():
            return None
        return replace(
            event, name=self.name(event.name), attributes=self.attributes(event.attributes)
        )

    def link(self, link: SpanLink) -> SpanLink | None:
        """The link; None if there is no room for it."""
        if not self._has_room():
            return None
        return SpanLink(
            self.name(link.trace_id),
            self.name(link.span_id),
            self.attributes(link.attributes),
            self.text(link.trace_state),
        )

    def _has_room(self) -> bool:
        if self.left < ITEM_BYTES + LEAST_BYTES:
            self.counts[DROPPED] += 1
            return False
        self.left -= ITEM_BYTES
        return True


def limit_span(span: SpanRecord, value_bytes: int) -> tuple[SpanRecord, Counter[str]]:
    """The span with each value of at most `value_bytes`, and with four times as much in all.

    Of a span with more, the largest values are shortened to the same size. Also returns how many
    texts were shortened and items dropped, by reason.
    """
    span = _with_texts(span)
    most = VALUES_PER_SPAN * value_bytes
    taken = sum(min(size, NAME_BYTES) for size in _name_sizes(span))
    cap = _fair_cap([*_value_sizes(span)], most - taken, value_bytes)
    room = SpanRoom(value_bytes, cap, most)
    limited = replace(
        span,
        name=room.name(span.name),
        parent_span_id=room.name(span.parent_span_id),
        status_message=room.text(span.status_message),
        trace_state=room.text(span.trace_state),
        scope_name=room.text(span.scope_name),
        scope_version=room.text(span.scope_version),
        attributes=(attributes := room.attributes(span.attributes)),
        events=tuple(filter(None, map(room.event, span.events))),
        links=tuple(filter(None, map(room.link, span.links))),
    )
    lost = len(span.events) + len(span.links) - len(limited.events) - len(limited.links)
    return replace(
        limited,
        dropped_attributes=span.dropped_attributes + len(span.attributes) - len(attributes),
        dropped_events=span.dropped_events + lost,
        shortened_attributes=span.shortened_attributes + room.shortened,
    ), +room.counts


def limit_resource(resource: Attributes, value_bytes: int) -> tuple[Attributes, Counter[str]]:
    """The same for a resource, with `value_bytes` in all: each span is stored with a copy."""
    texts = _texts(resource)
    names = sum(min(byte_size(key), NAME_BYTES) + ITEM_BYTES for key in texts)
    cap = _fair_cap(list(map(byte_size, texts.values())), value_bytes - names, value_bytes)
    room = SpanRoom(value_bytes, cap, value_bytes)
    return room.attributes(texts), +room.counts


def byte_size(value: AttributeValue) -> int:
    """The bytes of a text in UTF-8; 0 for numbers and flags, which are a part of their item."""
    if not isinstance(value, str):
        return 0
    return len(value) if value.isascii() else len(value.encode("utf-8", "replace"))


def most_bytes(value: AttributeValue) -> int:
    """At least as many bytes as the value takes where it is stored; cheap to compute."""
    if isinstance(value, str):
        return len(value) if value.isascii() else ENCODED * len(value)
    if isinstance(value, Mapping):
        return sum(
            ITEM_BYTES + ESCAPED * len(key) + _most_inside(inner) for key, inner in value.items()
        )
    if isinstance(value, tuple):
        return sum(map(_most_inside, value))
    return ITEM_BYTES


def _most_inside(value: AttributeValue) -> int:
    return ESCAPED * len(value) if isinstance(value, str) else ITEM_BYTES + most_bytes(value)


def most_span_bytes(span: SpanRecord) -> int:
    """The same for all texts of a span but the resource."""
    own = (span.status_message, span.trace_state, span.scope_name, span.scope_version)
    total = sum(map(most_bytes, own)) + most_bytes(span.attributes)
    for event in span.events:
        total += ITEM_BYTES + ENCODED * len(event.name) + most_bytes(event.attributes)
    for link in span.links:
        total += ITEM_BYTES + most_bytes(link.trace_state) + most_bytes(link.attributes)
    return total


def is_large(span: SpanRecord, value_bytes: int) -> bool:
    """True if a span whose names are short may have a value, or several, of more bytes."""
    # Most spans end here: this is a fifth of the time of `most_span_bytes`.
    if not (span.events or span.links):
        characters = len(span.status_message) + len(span.trace_state)
        characters += len(span.scope_name) + len(span.scope_version)
        for value in span.attributes.values():
            characters += len(value) if type(value) is str else most_bytes(value)
        if ENCODED * characters + NAME_BYTES * len(span.attributes) <= value_bytes:
            return False
    return most_span_bytes(span) > value_bytes


def has_long_name(span: SpanRecord) -> bool:
    """True if a name or an id in the span may be too long."""
    names = len(span.name) > NAME_CHARS or len(span.parent_span_id) > NAME_CHARS
    if names or has_long_key(span.attributes):
        return True
    if not (span.events or span.links):
        return False
    return (
        any(map(has_long_key, _items(span)))
        or any(len(event.name) > NAME_CHARS for event in span.events)
        or any(max(len(link.trace_id), len(link.span_id)) > NAME_CHARS for link in span.links)
    )


def has_long_key(attributes: Attributes) -> bool:
    """True if the name of an attribute may be too long."""
    return max(map(len, attributes), default=0) > NAME_CHARS


def _with_texts(span: SpanRecord) -> SpanRecord:
    """The span with lists and maps as the JSON texts that are stored."""
    return replace(
        span,
        attributes=_texts(span.attributes),
        events=tuple(replace(one, attributes=_texts(one.attributes)) for one in span.events),
        links=tuple(replace(one, attributes=_texts(one.attributes)) for one in span.links),
    )


def _texts(attributes: Attributes) -> Attributes:
    return {
        key: as_text(value) if isinstance(value, tuple | Mapping) else value
        for key, value in attributes.items()
    }


def _items(span: SpanRecord) -> Iterable[Attributes]:
    yield span.attributes
    yield from (event.attributes for event in span.events)
    yield from (link.attributes for link in span.links)


def _name_sizes(span: SpanRecord) -> Iterator[int]:
    """The sizes of all that is not a value, with what items take beside their texts."""
    yield from map(byte_size, (span.name, span.parent_span_id))
    yield from (ITEM_BYTES + byte_size(event.name) for event in span.events)
    for link in span.links:
        yield from (ITEM_BYTES + byte_size(link.trace_id), byte_size(link.span_id))
    yield from (ITEM_BYTES + byte_size(key) for attributes in _items(span) for key in attributes)


def _value_sizes(span: SpanRecord) -> Iterator[int]:
    own = (span.status_message, span.trace_state, span.scope_name, span.scope_version)
    yield from map(byte_size, own)
    yield from (byte_size(link.trace_state) for link in span.links)
    yield from (byte_size(value) for attributes in _items(span) for value in attributes.values())


def _fair_cap(sizes: list[int], room: int, most: int) -> int:
    """The size to which the largest are shortened so that all fit; from LEAST_BYTES to `most`."""
    left = room
    for count, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        if min(size, most) * count > left:
            return min(max(left // count, LEAST_BYTES), most)
        left -= min(size, most)
    return most
