"""One span's attributes and events, gone through once: what is ours, and which lists they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from otel_rt4chart.spans import values
from otel_rt4chart.spans.conventions.all import DERIVED, EVENTS, HEADS, JSON_KEYS
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
    """A span whose keys have been sorted; `heads` are the known first parts of them."""

    __slots__ = ("_events", "_parsed", "_rows", "attributes", "heads", "span")

    def __init__(self, span: SpanRecord) -> None:
        """One pass over the keys and the events' names; values are opened when they are asked."""
        self.span = span
        self.attributes: Mapping[str, object] = span.attributes
        self.heads: set[str] = set()
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
        return bool(self.heads or self._events)

    def has(self, key: str) -> bool:
        """True where something stands under the key, or where it is the first part of one."""
        return key in self.heads or self.holds(key)

    def holds(self, key: str) -> bool:
        """True where something stands under the key, be it a list in many keys or events."""
        return key in self.attributes or key in self._rows or key in self._events

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
            if found := INDEX.search(key):
                rows = self._rows.setdefault(key[: found.start()], {})
                rows.setdefault(int(found[1]), {})[key[found.end() :]] = attributes[key]

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

    def _derive(self, key: str) -> None:
        value = self.attributes[key]
        whole = values.opened(value).value if isinstance(value, str) else value
        self.attributes = {**DERIVED[key](whole), **self.attributes}


def _row(row: dict[str, object]) -> object:
    """The item of a flattened list; one that is a scalar has no name behind its index."""
    return row[""] if "" in row and len(row) == 1 else values.nested(row)
