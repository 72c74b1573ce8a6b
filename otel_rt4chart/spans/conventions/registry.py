"""The list of all conventions in order of precedence, and lookup tables compiled from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from otel_rt4chart.spans.conventions.convention import (
    CONTEXT_NAMES,
    FIELDS,
    AttributeSource,
    Convention,
    Derivation,
    EventMapping,
    Sources,
    ValueShape,
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
from otel_rt4chart.spans.model.span_view import OperationKind

# A new convention is one line here. Conventions with names of their own precede those that share
# GenAI's names.
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
class KindIndicators:
    """What determines the kind of a span apart from its name, for queries over stored spans.

    `kinds` are the attributes that name a kind, with the lower-case values that mean a requested
    one (JSON text keeps its quotation marks in the store: compare without them). `prefixes` of
    keys and names of `events` determine the kind if no such attribute has a known value.
    """

    kinds: Mapping[str, frozenset[str]]
    prefixes: tuple[str, ...]
    events: frozenset[str]


def kind_indicators(*requested: OperationKind) -> KindIndicators:
    """The indicators of these kinds in all conventions: a span without any is of no such kind."""
    values: dict[str, set[str]] = {}
    for _, attribute, kinds in KIND_ATTRIBUTES:
        meant = {value for value, kind in kinds.items() if kind in requested}
        values.setdefault(attribute, set()).update(meant)
    hints = {
        hint: None
        for convention in CONVENTIONS
        for hint, kind in convention.hints
        if kind in requested
    }
    return KindIndicators(
        {attribute: frozenset(found) for attribute, found in values.items() if found},
        tuple(hints),
        frozenset(
            name
            for name, event in EVENTS.items()
            # An event without a key holds attributes of its span, which is a generation.
            if (event.key in hints if event.key else OperationKind.LLM in requested)
        ),
    )


def ordered_sources(field: str, kind: OperationKind) -> Sources:
    """The sources of a field on a span of this kind, without duplicates, in reading order."""
    named = [source for convention in CONVENTIONS for source in getattr(convention, field)]
    # A stable sort: whole inputs and outputs follow the specific sources.
    ordered = sorted(named, key=lambda source: source.is_last)
    return tuple(dict.fromkeys(source for source in ordered if kind in source.kinds))


def attribute_keys(convention: Convention) -> Iterator[str]:
    """Every attribute key in the table of a convention."""
    yield from convention.kinds
    yield from (hint for hint, _ in convention.hints)
    yield from convention.derived
    yield from convention.datastore
    for field in FIELDS:
        yield from (source.key for source in getattr(convention, field))


def _key_prefixes(convention: Convention) -> frozenset[str]:
    return frozenset(key.partition(".")[0] for key in attribute_keys(convention))


SOURCES_BY_FIELD: Mapping[str, Mapping[OperationKind, Sources]] = {
    field: {kind: ordered_sources(field, kind) for kind in OperationKind} for field in FIELDS
}
# Each variable of a prompt template may be an attribute, `<key of the variables>.<name>`.
VARIABLE_KEYS: Mapping[str, str] = {
    f"{source.key}.{name}": source.key
    for convention in CONVENTIONS
    for source in convention.variables
    for name in CONTEXT_NAMES
}
ATTRIBUTE_KEYS = frozenset(key for convention in CONVENTIONS for key in attribute_keys(convention))
# The first part of a key identifies its convention, unless spans of any origin have it.
PREFIXES_BY_CONVENTION = {convention.name: _key_prefixes(convention) for convention in CONVENTIONS}
SESSION_KEYS = frozenset(source.key for convention in CONVENTIONS for source in convention.session)
KEY_PREFIXES = frozenset().union(*PREFIXES_BY_CONVENTION.values())
DISTINCTIVE_PREFIXES = KEY_PREFIXES - {"db", "input", "output", "session", "prompt", "events"}
SCOPES = tuple(scope for convention in CONVENTIONS for scope in convention.scopes)
EVENTS: Mapping[str, EventMapping] = {
    name: event for convention in CONVENTIONS for name, event in convention.events.items()
}
DERIVED_ATTRIBUTES: Mapping[str, Derivation] = {
    key: function for convention in CONVENTIONS for key, function in convention.derived.items()
}
KIND_ATTRIBUTES: tuple[tuple[Convention, str, Mapping[str, OperationKind]], ...] = tuple(
    (convention, attribute, kinds)
    for convention in CONVENTIONS
    for attribute, kinds in convention.kinds.items()
)
DATASTORE_ATTRIBUTES = {
    key: value for convention in CONVENTIONS for key, value in convention.datastore.items()
}
PLACEHOLDERS = frozenset(text for convention in CONVENTIONS for text in convention.placeholders)
PLACEHOLDER_STARTS = tuple(
    text for convention in CONVENTIONS for text in convention.placeholder_starts
)
JSON_KEYS = frozenset(
    source.key
    for convention in CONVENTIONS
    for field in FIELDS
    for source in getattr(convention, field)
    if isinstance(source, AttributeSource) and source.shape is ValueShape.JSON
)
