"""Text of others in Markdown."""

from __future__ import annotations

import re


def code_span(clean: str) -> str:
    """A code span around text of one line: its ticks are more than any run of ticks in it."""
    ticks = "`" * (max([0, *map(len, re.findall("`+", clean))]) + 1)
    pad = " " if "`" in clean else ""
    return f"{ticks}{pad}{clean}{pad}{ticks}"
