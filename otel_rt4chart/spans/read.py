"""A span as a view: its kind, then each field from the first convention that has a value for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from otel_rt4chart.spans.conventions.all import (
    CONVENTIONS,
    DATASTORE,
    HEADS_BY_NAME,
    KIND_ATTRIBUTES,
)
from otel_rt4chart.spans.conventions.convention import FIELDS, Convention
from otel_rt4chart.spans.fields import Found, first
from otel_rt4chart.spans.reading import Origin, Reading
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.spans.view import Kind, View

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
