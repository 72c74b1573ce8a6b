"""Text for a terminal: styles, the text that a terminal may get, and lines that fit it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from otel_rt4chart.core.settings import is_plain_terminal
from otel_rt4chart.core.text import encodable, printable

MIN_WIDTH, MAX_WIDTH = 40, 110
BOLD, DIM, UNDERLINED = "1", "2", "4"
RED, YELLOW, GREEN, MAGENTA = "31", "33", "32", "35"
# The colour of a label, and of a claim that is supported and misleads.
LABEL_COLORS = {
    "contradicted": RED,
    "baseless": YELLOW,
    "misleading": MAGENTA,
    "undecided": DIM,
    "entailed": GREEN,
}


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """How a terminal is written to: `width` columns; `is_plain` has brackets for colours."""

    width: int = 80
    is_plain: bool = False

    def styled(self, text: str, *codes: str) -> str:
        """The text in these styles; as it is on a plain terminal."""
        if self.is_plain or not text:
            return text
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"

    def marked(self, text: str, *codes: str) -> str:
        """The text underlined in these styles, in brackets on a plain terminal."""
        return f"[{text}]" if self.is_plain else self.styled(text, UNDERLINED, *codes)

    def wrapped(self, text: str, indent: str = "", lead: str = "") -> Iterator[str]:
        """The text, without styles, in lines that fit; it keeps its own line breaks.

        `lead` stands before the first line, and as many blanks before the others.
        """
        room = max(self.width - len(indent) - len(lead), MIN_WIDTH // 2)
        for line in shown(text).splitlines() or [""]:
            for part in textwrap.wrap(line, room) or [""]:
                yield indent + lead + part
                lead = " " * len(lead)


def this_terminal() -> TerminalStyle:
    """The style of the terminal behind standard output."""
    columns = shutil.get_terminal_size().columns
    return TerminalStyle(min(max(columns, MIN_WIDTH), MAX_WIDTH), is_plain_terminal())


def shown(text: str) -> str:
    """The text without what a terminal would obey; line breaks are kept."""
    return printable(encodable(text), keep="\n")
