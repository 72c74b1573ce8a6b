"""Whether a span is one without which there is no answer to verify; no text is read for that."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart import semconv
from otel_rt4chart.spans.conventions.all import CONVENTIONS, KIND_ATTRIBUTES
from otel_rt4chart.spans.view import Kind

RAG_KINDS = frozenset({Kind.LLM, Kind.RETRIEVER, Kind.RERANKER})
NAMES = tuple(start for one in CONVENTIONS for start, kind in one.names if kind in RAG_KINDS)
HINTS = tuple({hint for one in CONVENTIONS for hint, kind in one.hints if kind in RAG_KINDS})

# What an application may say to us, and the attributes that tell a kind outright beside it.
SAID = frozenset({semconv.ROUTE, semconv.FORCE})
TOLD = SAID | {attribute for _, attribute, _ in KIND_ATTRIBUTES}


def looks_like_rag(name: str, keys: Iterable[str]) -> bool:
    """By the name of a span or its attributes' keys, where no attribute names its kind.

    A span that only looks like one costs a trace's place under the bounds, one that is passed over
    would get past them; so a name alone suffices.
    """
    return name.startswith(NAMES) or any(key.startswith(HINTS) for key in keys)
