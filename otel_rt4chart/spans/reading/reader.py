"""One span as a view: its kind, then each field from the first convention that has a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from otel_rt4chart.spans.conventions.convention import (
    CONTEXT_NAMES,
    FIELDS,
    Convention,
    Shape,
    Source,
)
from otel_rt4chart.spans.conventions.registry import (
    APART,
    CONVENTIONS,
    DATASTORE,
    DERIVED,
    EVENTS,
    HEADS,
    HEADS_BY_NAME,
    JSON_KEYS,
    KEYS,
    KIND_ATTRIBUTES,
    OWN_HEADS,
    SCOPES,
    SOURCES,
)
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.record import Attributes, SpanEvent, SpanRecord
from otel_rt4chart.spans.model.view import Kind, Message, View
from otel_rt4chart.spans.reading import whole_text
from otel_rt4chart.spans.reading.documents import context, documents, results
from otel_rt4chart.spans.reading.messages import is_placeholder, messages
from otel_rt4chart.verify.core.model import Passage

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


@dataclass(frozen=True, slots=True)
class Found:
    """What one source gave, and what became of the rest: hidden, cut, or spread over many keys."""

    text: str = ""
    messages: tuple[Message, ...] = ()
    passages: tuple[Passage, ...] = ()
    calls_tools: bool = False
    is_redacted: bool = False
    is_cut: bool = False
    origin: Origin = Origin.WHOLE

    @property
    def is_empty(self) -> bool:
        """True where nothing can be used."""
        return not (self.text or self.messages or self.passages or self.calls_tools)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source is read: on which span, for which field."""

    reading: Reading
    source: Source
    field: str
    kind: Kind


NOTHING = Found()


def first(reading: Reading, field: str, kind: Kind) -> Found:
    """The field from the first source that has a value; what the others lost where none has."""
    lost = NOTHING
    for source in SOURCES[field][kind]:
        if source.key not in reading.present:
            continue
        if source.scope and not reading.span.scope_name.startswith(source.scope):
            continue
        found = READERS[source.shape](Place(reading, source, field, kind))
        if not found.is_empty:
            return found
        if found.is_redacted or found.is_cut:
            lost = Found(
                is_redacted=lost.is_redacted or found.is_redacted,
                is_cut=lost.is_cut or found.is_cut,
            )
    return lost


def _text(place: Place) -> Found:
    text = place.reading.text(place.source.key)
    return Found(is_redacted=True) if is_placeholder(text) else Found(text)


def _whole(place: Place) -> Found:
    raw, given = _raw(place), place.reading.text(place.source.key)
    if raw.value is None:
        return Found(is_cut=raw.is_cut)
    if isinstance(raw.value, str) and is_placeholder(raw.value):
        return Found(is_redacted=True)
    if place.field == "input":
        return Found(whole_text.input_text(raw.value, given), origin=raw.origin)
    if place.kind is Kind.TOOL:
        return Found(whole_text.result_text(raw.value, given), origin=raw.origin)
    if place.kind is Kind.LLM and whole_text.calls_tools(raw.value):
        text = whole_text.output_text(raw.value, "")
        return Found(text, calls_tools=True, origin=raw.origin)
    return Found(whole_text.output_text(raw.value, given), origin=raw.origin)


def _messages(place: Place) -> Found:
    raw = _raw(place)
    role = place.source.role or ("assistant" if place.field == "output" else "user")
    if place.field == "prompt" and isinstance(raw.value, str):
        # Text for a model, but nobody's turn: it may hold more than what the user said.
        role = "prompt"
    said, is_redacted = messages(raw.value, role=role)
    lost = Found(is_redacted=is_redacted, is_cut=raw.is_cut, origin=raw.origin)
    if place.field != "output":
        return replace(lost, messages=said)
    calls = any(one.calls_tools for one in said)
    if place.source.shape is Shape.LAST:
        return replace(lost, text=whole_text.last(said, role="assistant"))
    return replace(lost, text="\n".join(one.text for one in said if one.text), calls_tools=calls)


def _calls(place: Place) -> Found:
    raw = _raw(place)
    return Found(calls_tools=bool(raw.value) or raw.is_cut)


def _documents(place: Place) -> Found:
    raw = _raw(place)
    if place.kind is Kind.TOOL and raw.value is not None:
        given = place.reading.text(place.source.key)
        found, is_redacted = results(raw.value, raw.value if isinstance(raw.value, str) else given)
    else:
        found, is_redacted = documents(raw.value)
    return Found(
        passages=found, is_redacted=is_redacted, is_cut=raw.is_cut, origin=raw.origin
    )  # fmt: skip


def _variables(place: Place) -> Found:
    raw = _raw(place)
    given = values.mapping(raw.value) if isinstance(raw.value, Mapping) else {}
    attributes = place.reading.attributes
    keys = {name: f"{place.source.key}.{name}" for name in CONTEXT_NAMES}
    apart = {name: attributes[key] for name, key in keys.items() if key in attributes}
    found, is_redacted = context(given or apart)
    is_hidden = isinstance(raw.value, str) and is_placeholder(raw.value)
    return Found(passages=found, is_redacted=is_redacted or is_hidden, is_cut=raw.is_cut)


def _raw(place: Place) -> Raw:
    return place.reading.raw(place.source.key)


READERS: Mapping[Shape, Callable[[Place], Found]] = {
    Shape.TEXT: _text,
    Shape.WHOLE: _whole,
    Shape.JSON: _whole,
    Shape.MESSAGES: _messages,
    Shape.LAST: _messages,
    Shape.CALLS: _calls,
    Shape.DOCUMENTS: _documents,
    Shape.VARIABLES: _variables,
}


# What a kind is read for: if that is lost, the span cannot speak for itself.
NEEDED = {
    Kind.LLM: ("output", "prompt"),
    Kind.RETRIEVER: ("documents",),
    Kind.RERANKER: ("documents",),
    Kind.TOOL: ("documents",),
    Kind.PROMPT: ("variables",),
}


def view(span: SpanRecord) -> View:
    """Read one span; never raises, whatever its attributes hold.

    A span of no convention has the kind NONE, and an input where one names it.
    """
    reading = Reading(span)
    if not reading.is_ours:
        return View(span)
    kind, convention = kind_of(reading)
    found = {field: first(reading, field, kind) for field in FIELDS}
    needed = [found[field] for field in NEEDED.get(kind, ("input", "output"))]
    output = found["output"]
    return View(
        span=span,
        kind=kind,
        input=found["input"].text,
        output=output.text,
        prompt=found["system"].messages + found["prompt"].messages,
        documents=found["documents"].passages,
        given=found["given"].passages,
        variables=found["variables"].passages,
        is_datastore=any(reading.text(key) == value for key, value in DATASTORE.items()),
        model=found["model"].text,
        prompt_version=found["prompt_version"].text,
        session=found["session"].text,
        is_redacted=any(one.is_redacted for one in needed),
        is_truncated=any(one.is_cut for one in needed)
        or (kind in NEEDED and _is_thinned(span, needed)),
        calls_tools_only=output.calls_tools and not output.text,
        convention=convention,
    )


def kind_of(reading: Reading) -> tuple[Kind, str]:
    """The kind and the convention that told it: by attribute, else by name, else by keys."""
    vague: tuple[Kind, str] | None = None
    for convention, attribute, kinds in KIND_ATTRIBUTES:
        if attribute not in reading.attributes:
            continue
        # MLflow's are JSON.
        told = reading.text(attribute).strip('" ').lower()
        if told in kinds:
            if told not in convention.vague:
                return kinds[told], convention.name
            vague = vague or (kinds[told], convention.name)
    return vague or _by_name(reading) or _by_keys(reading) or (Kind.NONE, "")


def named_kind(attributes: Mapping[str, object]) -> Kind:
    """The kind that an attribute names outright; a few lookups, no key is gone through."""
    for _, attribute, kinds in KIND_ATTRIBUTES:
        told = attributes.get(attribute)
        if isinstance(told, str) and (kind := kinds.get(told.strip('" ').lower())):
            return kind
    return Kind.NONE


def _by_keys(reading: Reading) -> tuple[Kind, str] | None:
    for convention in CONVENTIONS:
        for key, kind in convention.hints:
            if reading.has(key):
                return kind, convention.name
    return None


def _by_name(reading: Reading) -> tuple[Kind, str] | None:
    """By the span's name, where a key or the scope is the convention's: anyone may say `chat`."""
    for convention in CONVENTIONS:
        for start, kind in convention.names:
            if reading.span.name.startswith(start) and _is_of(reading, convention):
                return kind, convention.name
    return None


def _is_of(reading: Reading, convention: Convention) -> bool:
    return not reading.heads.isdisjoint(HEADS_BY_NAME[convention.name]) or (
        reading.span.scope_name.startswith(convention.scopes)
    )


def _is_thinned(span: SpanRecord, needed: Iterable[Found]) -> bool:
    """True where a limit may have taken what is missing: what is whole in one key is not."""
    attributes, events = span.dropped_attributes > 0, span.dropped_events > 0
    lost = {
        Origin.WHOLE: False,
        Origin.KEYS: attributes,
        Origin.EVENTS: events,
    }
    return any((attributes or events) if one.is_empty else lost[one.origin] for one in needed)
