"""Tables of the benchmark as plain text, as Markdown and as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.bench.tables import aligned

Cell = str | int | float | None


class Table(NamedTuple):
    """A title, what the columns mean, their heads and the rows; figures are as they came out."""

    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def as_text(table: Table) -> str:
    """Aligned, with the note beneath the title."""
    lines = aligned([table.head, *([shown(cell) for cell in row] for row in table.rows)])
    return "\n".join([*filter(None, (table.title, table.note)), "", *lines]) + "\n"


def as_markdown(table: Table) -> str:
    """The first column to the left, the others to the right."""
    rows = [table.head, ["---"] + ["--:"] * (len(table.head) - 1)]
    rows += [[shown(cell) for cell in row] for row in table.rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"### {table.title}", "", table.note, "", *lines]) + "\n"


def as_value(table: Table) -> Mapping[str, object]:
    """For machines: one object a row."""
    rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
    return {"title": table.title, "note": table.note, "rows": rows}


def shown(cell: Cell) -> str:
    """Three decimals for a share, fewer for what is larger; a dash for what is not defined."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return (
            f"{cell:.3f}" if abs(cell) < 10 else f"{cell:.1f}" if abs(cell) < 100 else f"{cell:.0f}"
        )
    return str(cell)
