"""Texts that are shortened to be stored, and the mark by which they are recognized."""

from __future__ import annotations

import re

_MARK = "… [shortened from {} bytes]"
_MARKED = re.compile(r"… \[shortened from [0-9]{1,20} bytes\]\Z")
_MARK_CHARS = 60  # more than the longest mark has


def shorten_text(text: str, limit: int) -> str:
    """The text if it has at most `limit` bytes in UTF-8, else its beginning and a mark.

    The mark says how long the text was. The result has at most `limit` bytes where the mark fits
    into them, and ends no character early.
    """
    if len(text) <= limit // 4:
        return text
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return text
    mark = _MARK.format(len(encoded))
    room = max(limit - len(mark.encode()), 0)
    return encoded[:room].decode("utf-8", "ignore") + mark


def is_shortened(value: object) -> bool:
    """True for a text that ends with the mark."""
    return isinstance(value, str) and _MARKED.search(value, len(value) - _MARK_CHARS) is not None
