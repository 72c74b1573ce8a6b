"""One field of a view: the first source that has a value for it, whatever shape it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from otel_rt4chart.spans import values, whole
from otel_rt4chart.spans.conventions.all import SOURCES
from otel_rt4chart.spans.conventions.convention import CONTEXT_NAMES, Shape, Source
from otel_rt4chart.spans.documents import context, documents, results
from otel_rt4chart.spans.messages import is_placeholder, messages
from otel_rt4chart.spans.reading import Origin, Raw, Reading
from otel_rt4chart.spans.view import Kind, Message
from otel_rt4chart.verify.model import Passage


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
        return Found(whole.input_text(raw.value, given), origin=raw.origin)
    if place.kind is Kind.TOOL:
        return Found(whole.result_text(raw.value, given), origin=raw.origin)
    if place.kind is Kind.LLM and whole.calls_tools(raw.value):
        text = whole.output_text(raw.value, "")
        return Found(text, calls_tools=True, origin=raw.origin)
    return Found(whole.output_text(raw.value, given), origin=raw.origin)


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
        return replace(lost, text=whole.last(said, role="assistant"))
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
