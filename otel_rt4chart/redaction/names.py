"""Names of fields that conventions and frameworks use in JSON: nobody's text, so they stay."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import CONTEXT_NAMES
from otel_rt4chart.spans.documents import (
    AROUND_MANY,
    AROUND_ONE,
    BESIDE,
    CONTENT_KEYS,
    METADATA_KEYS,
)
from otel_rt4chart.spans.messages import CALLS, HOLDERS, RESULTS
from otel_rt4chart.spans.whole import INPUT_KEYS, OUTPUT_KEYS

# What names and orders the texts stays: without it nobody could tell what was there.
_ENUMS = "role type kind label relation annotator_kind finish_reason mime_type"
_IDS = "id tool_call_id identifier"
STRUCTURE = frozenset(f"{_ENUMS} {_IDS}".split())
_BESIDE = frozenset({
    "parts", "contents", "message_content", "tool_call", "function", "name", "arguments",
    "description", "system", "event", "finish_reasons", "ids", "embeddings", "choice", "user",
    "assistant", "tool",
})  # fmt: skip
_FIELDS = STRUCTURE.union(
    _BESIDE, CONTEXT_NAMES, AROUND_MANY, AROUND_ONE, BESIDE, CONTENT_KEYS, METADATA_KEYS,
    CALLS, HOLDERS, RESULTS, INPUT_KEYS, OUTPUT_KEYS,
)  # fmt: skip


def is_field(key: str) -> bool:
    """True for the name of a known field, or for several with dots between them."""
    return all(one in _FIELDS or (one.isdecimal() and len(one) < 7) for one in key.split("."))
