"""The output of commands: tables and text for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.text import printable

# Columns of a table in a file or a pipe, which have no width of their own.
_WIDTH = 160
# Room in which a table has the width that it needs.
_WIDEST = 10_000


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


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of texts: a table, or a paragraph for each row if the table is wider than the terminal.

    A paragraph begins with the first column; its first line is the column `title`, or that of the
    first column alone.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    title: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render for the width of the terminal."""
        found = self._table()
        width = Measurement.get(console, options.update_width(_WIDEST), found).maximum
        yield found if width <= options.max_width else self._paragraphs()

    def _table(self) -> Table:
        found = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for name in self.columns:
            found.add_column(name, overflow="fold")
        for row in self.rows:
            found.add_row(*row)
        return found

    def _paragraphs(self) -> Table:
        found = Table.grid(padding=(0, 2, 0, 0))
        found.add_column(no_wrap=True)
        found.add_column(overflow="fold")
        for row in self.rows:
            found.add_row(row[0], self._paragraph(row))
        return found

    def _paragraph(self, row: Sequence[Text]) -> Text:
        first = Text(style="bold")
        at = self.columns.index(self.title) if self.title else 0
        if at:
            first.append_text(row[at]).append("\n", style="not bold")
        told = [
            Text.assemble((f"{name} ", "not bold dim"), value.copy())
            for number, (name, value) in enumerate(zip(self.columns, row, strict=True))
            if number not in (0, at) and value.plain not in ("", "–")
        ]
        for one in told:
            one.style = "not bold"
        return Text.assemble(first, Text(" · ", "not bold dim").join(told))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> Listing:
    """A listing of plain texts without control characters; `title` is the column of the titles."""
    names = [printable(name) for name in columns]
    return Listing(names, [[Text(printable(cell)) for cell in row] for row in rows], title)


def pairs(rows: Iterable[tuple[str, str]]) -> Table:
    """Names and values, the values wrapped beside the names, without control characters."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(Text(printable(name)), Text(printable(value)))
    return grid
