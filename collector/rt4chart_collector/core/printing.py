"""The output of commands: tables and text for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.text import printable

# Columns of a table in a file or a pipe, which have no width of their own.
_WIDTH = 160


def write(value: object, text: RenderableType, *, as_json: bool) -> None:
    """Print `value` as JSON, or `text` for people.

    Control characters are removed from a plain text; `table` removes them from its cells.
    """
    if as_json:
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")
        return
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH
    if isinstance(text, str):
        console.print(printable(text, keep="\n"), soft_wrap=True)
    else:
        console.print(text)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of plain texts without control characters."""
    result = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        result.add_column(Text(printable(name)), overflow="fold")
    for row in rows:
        result.add_row(*(Text(printable(cell)) for cell in row))
    return result
