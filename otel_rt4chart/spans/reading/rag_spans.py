"""Tells whether a span is of a RAG application, before the span is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from otel_rt4chart.spans.conventions.registry import CONVENTIONS
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.spans.reading.reader import kind_from_attributes

RAG_KINDS = frozenset({OperationKind.LLM, OperationKind.RETRIEVER, OperationKind.RERANKER})
RAG_SPAN_NAMES = tuple(
    start for convention in CONVENTIONS for start, kind in convention.names if kind in RAG_KINDS
)
RAG_KEYS = tuple(
    {hint for convention in CONVENTIONS for hint, kind in convention.hints if kind in RAG_KINDS}
)


def looks_like_rag(name: str, keys: Iterable[str]) -> bool:
    """True if the name of a span or the keys of its attributes suggest a RAG operation.

    For spans without an attribute that names their kind. A false positive spends a sample of the
    limits; a false negative would bypass the limits. So the name is sufficient.
    """
    return name.startswith(RAG_SPAN_NAMES) or any(map(_is_rag_key, keys))


@lru_cache(maxsize=4_096)
def _is_rag_key(key: str) -> bool:
    return key.startswith(RAG_KEYS)


def is_rag_span(name: str, attributes: Mapping[str, object]) -> bool:
    """True for a generation or a retrieval, by its kind, or else by its name and its keys."""
    kind = kind_from_attributes(attributes)
    if kind is not OperationKind.NONE:
        return kind in RAG_KINDS
    return looks_like_rag(name, attributes)
