"""Text for people: untrusted text in Markdown, and times."""

from __future__ import annotations

import re
from datetime import UTC, datetime


def code_span(clean: str) -> str:
    """A code span around one line of text. It has more backticks than any run in the text."""
    ticks = "`" * (max([0, *map(len, re.findall("`+", clean))]) + 1)
    pad = " " if "`" in clean else ""
    return f"{ticks}{pad}{clean}{pad}{ticks}"


def utc_time(time_ns: int) -> str:
    """A time to the second, in UTC."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).isoformat()
