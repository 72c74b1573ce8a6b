"""Text that can leave Python: for a request, for a tokenizer."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text as UTF-8 can hold it: JSON may have escaped half a character, a lone surrogate."""
    return text.encode("utf-8", "replace").decode("utf-8")
