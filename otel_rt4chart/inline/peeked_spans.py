"""Spans of a held trace: their kinds at once, their texts where they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from opentelemetry.sdk.trace import ReadableSpan

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.conventions.registry import (
    DATASTORE_ATTRIBUTES,
    DERIVED_ATTRIBUTES,
    SOURCES_BY_FIELD,
)
from otel_rt4chart.spans.exchange.span_tree import RETRIEVAL_KINDS
from otel_rt4chart.spans.model.record import Attributes
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.spans.model.values import as_text
from otel_rt4chart.spans.reading.messages import flat_message_text
from otel_rt4chart.spans.reading.reader import (
    AttributeIndex,
    FieldValue,
    detect_kind,
    kind_by_attribute,
    read_field,
)
from otel_rt4chart.spans.reading.sdk import (
    has_events,
    peek_attributes,
    peek_record,
    record_from_readable,
)

# Keys whose values are read before the kind of a span, or any other of its fields, is known.
EARLY_KEYS = frozenset({*DERIVED_ATTRIBUTES, semconv.SHORTENED_ATTRIBUTES})


class PeekedSpan(NamedTuple):
    """A span with its kind; each field of one that `is_simple` is read from its own keys alone."""

    span: ReadableSpan
    span_id: int
    attributes: Attributes
    kind: OperationKind
    is_simple: bool


def peek_span(span: ReadableSpan) -> PeekedSpan | None:
    """The span with the kind that reading it would find; None for a tool on a data store."""
    context, attributes = span.get_span_context(), peek_attributes(span)
    if context is None:
        return None
    is_simple = attributes.keys().isdisjoint(EARLY_KEYS) and not has_events(span)
    found, read = kind_by_attribute(attributes), attributes
    if found is None or not is_simple:
        index = AttributeIndex(record_from_readable(span))
        found = detect_kind(index) if index.has_known_convention else (OperationKind.NONE, "")
        read = index.attributes  # type: ignore[assignment] # with those that it derived
    kind = found[0]
    if kind is OperationKind.TOOL and any(
        as_text(read.get(key)) == value for key, value in DATASTORE_ATTRIBUTES.items()
    ):
        return None
    return PeekedSpan(span, context.span_id, attributes, kind, is_simple)


def index_of(node: PeekedSpan, keys: Callable[[str], bool]) -> AttributeIndex:
    """The index of the attributes with these keys, if no others can matter."""
    span = node.span
    return AttributeIndex(peek_record(span, keys) if node.is_simple else record_from_readable(span))


def _key_filter(fields: Iterable[str], kinds: Iterable[OperationKind]) -> Callable[[str], bool]:
    """Says of a key whether one of the fields may be read from it; remembers the last keys."""
    sources = {
        source.key for name in fields for kind in kinds for source in SOURCES_BY_FIELD[name][kind]
    }

    @lru_cache(maxsize=4_096)
    def may_hold(key: str) -> bool:
        return key.startswith(starts)

    starts = tuple(sources)
    return may_hold


# Where reading looks first for the text of a generation.
FIRST_OUTPUT = SOURCES_BY_FIELD["output"][OperationKind.LLM][0].key
holds_output = _key_filter(["output"], OperationKind)
holds_documents = _key_filter(["documents", "system", "variables"], RETRIEVAL_KINDS)


def read_output(node: PeekedSpan) -> FieldValue:
    """The output as reading the span would find it."""
    index = index_of(node, holds_output)
    if node.kind is OperationKind.LLM and (text := flat_message_text(index.rows(FIRST_OUTPUT))):
        return FieldValue(text)
    return read_field(index, "output", node.kind)
