"""All tables together, in the order of precedence, and compiled for the reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from otel_rt4chart.spans.conventions.convention import (
    CONTEXT_NAMES,
    FIELDS,
    Convention,
    Event,
    Shape,
    Source,
    Sources,
)
from otel_rt4chart.spans.conventions.genai import GENAI
from otel_rt4chart.spans.conventions.laminar import LAMINAR
from otel_rt4chart.spans.conventions.langfuse import LANGFUSE
from otel_rt4chart.spans.conventions.langsmith import LANGSMITH
from otel_rt4chart.spans.conventions.mlflow import MLFLOW
from otel_rt4chart.spans.conventions.openinference import OPENINFERENCE
from otel_rt4chart.spans.conventions.openllmetry import OPENLLMETRY
from otel_rt4chart.spans.conventions.pydantic_ai import PYDANTIC_AI
from otel_rt4chart.spans.conventions.traceai import TRACEAI
from otel_rt4chart.spans.conventions.trulens import TRULENS
from otel_rt4chart.spans.conventions.vectordb import VECTORDB
from otel_rt4chart.spans.conventions.vercel import VERCEL
from otel_rt4chart.spans.model.view import Kind

# Those whose names are their own go before those that share GenAI's.
CONVENTIONS = (
    OPENINFERENCE,
    TRACEAI,
    LANGFUSE,
    VERCEL,
    TRULENS,
    LANGSMITH,
    MLFLOW,
    LAMINAR,
    OPENLLMETRY,
    GENAI,
    PYDANTIC_AI,
    VECTORDB,
)


@dataclass(frozen=True, slots=True)
class KindSigns:
    """What tells a span's kind but its name, for a query over stored spans.

    `kinds` are the attributes that name a span's kind, with the values, in lower case, that mean
    one of those asked for (JSON text keeps its quotation marks in the store: compare without them);
    `prefixes` begin the keys, and `events` are the names of span events, that tell one where no
    attribute does: none is left, or its value is none of any kind.
    """

    kinds: Mapping[str, frozenset[str]]
    prefixes: tuple[str, ...]
    events: frozenset[str]


def signs_of(*asked: Kind) -> KindSigns:
    """The signs of these kinds, of all conventions: a span without any of them is of none."""
    values: dict[str, set[str]] = {}
    for _, attribute, kinds in KIND_ATTRIBUTES:
        meant = {value for value, kind in kinds.items() if kind in asked}
        values.setdefault(attribute, set()).update(meant)
    hints = {hint: None for one in CONVENTIONS for hint, kind in one.hints if kind in asked}
    return KindSigns(
        {attribute: frozenset(found) for attribute, found in values.items() if found},
        tuple(hints),
        frozenset(
            name
            for name, event in EVENTS.items()
            # One that stands for attributes of its span is a generation's.
            if (event.key in hints if event.key else Kind.LLM in asked)
        ),
    )


def sources_of(field: str, kind: Kind) -> Sources:
    """The sources of a field on a span of this kind, each once, in the order of reading."""
    named = [one for convention in CONVENTIONS for one in getattr(convention, field)]
    ordered = [one for one in named if not one.is_last] + [one for one in named if one.is_last]
    return tuple(dict.fromkeys(one for one in ordered if kind in one.kinds))


def keys_of(convention: Convention) -> Iterator[str]:
    """Every attribute key that a convention's table names."""
    yield from convention.kinds
    yield from (hint for hint, _ in convention.hints)
    yield from convention.derived
    yield from convention.datastore
    for field in FIELDS:
        yield from (one.key for one in getattr(convention, field))


def _heads(convention: Convention) -> frozenset[str]:
    return frozenset(key.partition(".")[0] for key in keys_of(convention))


SOURCES: Mapping[str, Mapping[Kind, Sources]] = {
    field: {kind: sources_of(field, kind) for kind in Kind} for field in FIELDS
}
# Variables of a prompt template may be attributes of their own, under the key of them all.
APART: Mapping[str, str] = {
    f"{source.key}.{name}": source.key
    for one in CONVENTIONS
    for source in one.variables
    for name in CONTEXT_NAMES
}
KEYS = frozenset(key for one in CONVENTIONS for key in keys_of(one))
# The first part of a key that says whose it is; those that other spans have too do not.
HEADS_BY_NAME = {one.name: _heads(one) for one in CONVENTIONS}
HEADS = frozenset().union(*HEADS_BY_NAME.values())
OWN_HEADS = HEADS - {"db", "input", "output", "session", "prompt", "events"}
SCOPES = tuple(scope for one in CONVENTIONS for scope in one.scopes)
EVENTS: Mapping[str, Event] = {
    name: event for one in CONVENTIONS for name, event in one.events.items()
}
DERIVED: Mapping[str, Callable[[object], Mapping[str, object]]] = {
    key: function for one in CONVENTIONS for key, function in one.derived.items()
}
KIND_ATTRIBUTES: tuple[tuple[Convention, str, Mapping[str, Kind]], ...] = tuple(
    (one, attribute, kinds) for one in CONVENTIONS for attribute, kinds in one.kinds.items()
)
DATASTORE = {key: value for one in CONVENTIONS for key, value in one.datastore.items()}
PLACEHOLDERS = frozenset(text for one in CONVENTIONS for text in one.placeholders)
PLACEHOLDER_STARTS = tuple(text for one in CONVENTIONS for text in one.placeholder_starts)
JSON_KEYS = frozenset(
    source.key
    for one in CONVENTIONS
    for field in FIELDS
    for source in getattr(one, field)
    if isinstance(source, Source) and source.shape is Shape.JSON
)
