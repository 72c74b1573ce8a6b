"""Tables in Markdown, or between commas or tabs, told row by row."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

from otel_rt4chart.verify.json_offsets import LONGEST_NAME, one_line
from otel_rt4chart.verify.wording import (
    CODE,
    Line,
    Rendered,
    closed,
    divided,
    is_sentence,
    line_itself,
    readable,
    sentence,
)

Grid = Sequence[Sequence[str]]

_HEADER = re.compile(r"[^\W\d][\w '&/#%()$.-]{0,39}|#")
_PIPE = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-+:?")


def tables(lines: Sequence[Line]) -> tuple[Rendered, ...]:
    """Every Markdown table, and the lines around them; nothing without a table."""
    if not any(_table_end(lines, at) > at for at in range(len(lines))):
        return ()
    rendered: list[Rendered] = []
    at = 0
    while at < len(lines):
        end = _table_end(lines, at)
        rendered += _table(lines[at:end]) if end > at else line_itself(lines[at])
        at = max(end, at + 1)
    return tuple(rendered)


def _table_end(lines: Sequence[Line], at: int) -> int:
    """Behind the last row of the table whose header is line `at`, or `at`."""
    if not _is_header(lines, at):
        return at
    end = at + 2
    while end < len(lines) and "|" in lines[end].raw and not _is_header(lines, end):
        end += 1
    return end if end > at + 2 else at


def _is_header(lines: Sequence[Line], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at].raw or "-" not in lines[at + 1].raw:
        return False
    dashes = _cells(lines[at + 1].raw)
    dashed = len(dashes) > 1 and all(_DASHES.fullmatch(cell) for cell in dashes)
    return dashed and len(dashes) == len(_cells(lines[at].raw))


def _table(lines: Sequence[Line]) -> list[Rendered]:
    grid = [_cells(line.raw) for line in lines]
    return [*_header(lines[0], lines[1].end, grid[0]), *_rows(lines[2:], grid[0], grid[2:])]


def _header(line: Line, end: int, cells: Sequence[str]) -> list[Rendered]:
    return divided(Rendered(line.start, end, _columns(cells)), line.raw.strip())


def _cells(raw: str) -> list[str]:
    body = one_line(raw).removeprefix("|")
    body = body.removesuffix("|") if not body.endswith("\\|") else body
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(body)]


def _columns(header: Sequence[str]) -> str:
    names = ", ".join(readable(cell) or cell for cell in header if cell)
    return sentence(f"Columns: {names[:1].upper()}{names[1:]}")


def _rows(lines: Sequence[Line], header: Sequence[str], rows: Grid) -> list[Rendered]:
    names = [readable(cell) for cell in header]
    told = []
    for line, cells in zip(lines, rows, strict=True):
        words = _row(names, cells) if any(cells) else closed(line.raw)
        subject = cells[0] if cells and len(cells[0]) <= LONGEST_NAME else ""
        whole = Rendered(line.start, line.end, words)
        told += divided(whole, line.raw.strip(), owner=subject)
    return told


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    """The first cell is what the others are about; cells that a short row lacks say nothing."""
    facts = [
        f"{name} is {cell or 'not given'}" if name else cell
        for name, cell in zip_longest(names[1 : len(cells)], cells[1:], fillvalue="")
        if name or cell
    ]
    said = ": ".join(part for part in (cells[0], "; ".join(facts)) if part)
    # Only a header may be capitalised: a cell is a name, as it is written.
    return closed(said) if cells[0] or not said else sentence(said)


def delimited(lines: Sequence[Line]) -> tuple[Rendered, ...]:
    """Values between tabs or commas, under a header; nothing for any other lines."""
    for split in (_by_tab, _by_comma):
        grid = _grid(lines, split)
        if grid and (split is _by_tab or _is_csv(lines, grid)):
            header = _header(lines[0], lines[0].end, grid[0])
            return *header, *_rows(lines[1:], grid[0], grid[1:])
    return ()


def _grid(lines: Sequence[Line], split: Callable[[str], list[str]]) -> Grid:
    """The cells of all lines, if the first one is a header and the others are as wide."""
    header = split(lines[0].raw) if len(lines) > 2 else []
    if len(header) < 2 or not all(_HEADER.fullmatch(cell) for cell in header):
        return []
    grid = [split(line.raw) for line in lines]
    return grid if all(len(cells) == len(header) for cells in grid) else []


def _by_tab(raw: str) -> list[str]:
    return [one_line(cell) for cell in raw.split("\t")]


def _by_comma(raw: str) -> list[str]:
    try:
        rows = list(csv.reader([raw], strict=True, skipinitialspace=True))
    except csv.Error:
        return []
    return [one_line(cell) for cell in rows[0]] if rows else []


def _is_csv(lines: Sequence[Line], grid: Grid) -> bool:
    """Commas of a list in prose have a space behind them, and no column of figures."""
    if any(is_sentence(cell) or CODE.search(cell) for cells in grid for cell in cells):
        return False
    if ", " not in lines[0].raw:
        return True
    return any(
        all(re.search(r"\d", cell) for cell in column) for column in zip(*grid[1:], strict=True)
    )
