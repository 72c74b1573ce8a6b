"""Untrusted text in Markdown."""

from __future__ import annotations

import re


def code_span(clean: str) -> str:
    """A code span around one line of text. It has more backticks than any run in the text."""
    ticks = "`" * (max([0, *map(len, re.findall("`+", clean))]) + 1)
    pad = " " if "`" in clean else ""
    return f"{ticks}{pad}{clean}{pad}{ticks}"
