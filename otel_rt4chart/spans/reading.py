"""One span's attributes and events, gone through once: what is ours, and which lists they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from otel_rt4chart.spans import values
from otel_rt4chart.spans.conventions.all import (
    APART,
    DERIVED,
    EVENTS,
    HEADS,
    JSON_KEYS,
    KEYS,
    OWN_HEADS,
    SCOPES,
)
from otel_rt4chart.spans.record import Attributes, SpanEvent, SpanRecord

# The first number in a key is the place in a list: `llm.input_messages.0.message.role`.
INDEX = re.compile(r"\.([0-9]{1,6})(?:\.|\Z)")
Rows = dict[int, dict[str, object]]


class Origin(Enum):
    """Where a value stood: whole in one attribute, or in many that a limit may have thinned."""

    WHOLE = auto()
    KEYS = auto()
    EVENTS = auto()


@dataclass(frozen=True, slots=True)
class Raw:
    """What stands under a key: text, or a structure; None where nothing whole does."""

    value: object = None
    is_cut: bool = False
    origin: Origin = Origin.WHOLE


class Reading:
    """A span whose keys have been sorted.

    `present` are the keys of our tables under which something stands, in one attribute, in many,
    or in events; `heads` the first parts that keys of ours may have.
    """

    __slots__ = ("_events", "_parsed", "_rows", "attributes", "heads", "present", "span")

    def __init__(self, span: SpanRecord) -> None:
        """One pass over the keys and the events' names; values are opened when they are asked."""
        self.span = span
        self.attributes: Mapping[str, object] = span.attributes
        self.heads: set[str] = set()
        self.present: set[str] = set()
        self._rows: dict[str, Rows] = {}
        self._events: dict[str, list[object]] = {}
        self._parsed: dict[str, Raw] = {}
        self._sort(span.attributes)
        for event in span.events:
            if event.name in EVENTS:
                self._take(event)
        for key in DERIVED:
            if key in self.attributes:
                self._derive(key)

    @property
    def is_ours(self) -> bool:
        """True where any key or event is one that a convention knows."""
        return bool(
            self.present
            or not self.heads.isdisjoint(OWN_HEADS)
            or self.span.scope_name.startswith(SCOPES)
        )

    def has(self, key: str) -> bool:
        """True where something stands under the key, or where it is the first part of one."""
        return key in self.present or key in self.heads

    def text(self, key: str) -> str:
        """The attribute as text, JSON or not."""
        return values.text(self.attributes.get(key))

    def raw(self, key: str) -> Raw:
        """The value under the key: JSON, a structure, flattened keys, plain text, in this order."""
        found = self._parsed.get(key)
        if found is None:
            found = self._parsed[key] = self._open(key)
        return found

    def _open(self, key: str) -> Raw:
        value = self.attributes.get(key)
        is_cut = False
        if isinstance(value, str):
            inside = values.opened(value)
            if inside.is_json:
                return Raw(inside.value)
            # A quotation that does not end is plain text, but where there is only JSON.
            is_cut = inside.is_cut and (key in JSON_KEYS or not value.lstrip().startswith('"'))
        elif value is not None:
            return Raw(value)
        if rows := self._rows.get(key):
            return Raw([_row(rows[index]) for index in sorted(rows)], origin=Origin.KEYS)
        if events := self._events.get(key):
            return Raw(events, origin=Origin.EVENTS)
        return Raw(is_cut=True) if is_cut else Raw(value)

    def _sort(self, attributes: Attributes) -> None:
        for key in attributes:
            head = key.partition(".")[0]
            if head not in HEADS:
                continue
            self.heads.add(head)
            if key in KEYS:
                self.present.add(key)
            elif key in APART:
                self.present.add(APART[key])
            elif (found := INDEX.search(key)) and (start := key[: found.start()]) in KEYS:
                rows = self._rows.setdefault(start, {})
                rows.setdefault(int(found[1]), {})[key[found.end() :]] = attributes[key]
                self.present.add(start)

    def _take(self, event: SpanEvent) -> None:
        told = EVENTS[event.name]
        if not told.key:
            # What the span itself says goes first.
            self.attributes = {**event.attributes, **self.attributes}
            self._sort(event.attributes)
            return
        item: dict[str, object] = {
            key.removeprefix(told.prefix): one for key, one in event.attributes.items()
        }
        if told.body:
            item |= values.mapping(item.pop(told.body, None))
        self._events.setdefault(told.key, []).append({"role": told.role, **item})
        self.present.add(told.key)

    def _derive(self, key: str) -> None:
        value = self.attributes[key]
        whole = values.opened(value).value if isinstance(value, str) else value
        derived = DERIVED[key](whole)
        self.attributes = {**derived, **self.attributes}
        self.present.update(derived)


def _row(row: dict[str, object]) -> object:
    """The item of a flattened list; one that is a scalar has no name behind its index."""
    return row[""] if "" in row and len(row) == 1 else values.nested(row)
