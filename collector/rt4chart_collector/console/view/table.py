"""A table of the console: the same rows as a page, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rt4chart_collector.console.view.params import choice_param

Plain: TypeAlias = str | int | float | bool | None
_Row = TypeVar("_Row")
HTML, CSV, JSON = "html", "csv", "json"
# A spreadsheet takes a cell that begins so for a formula (OWASP, CSV injection).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True)
class Column(Generic[_Row]):
    """One column: `value` is for CSV, JSON and sorting, `shown` for people, else the value itself.

    `name` is CSV's header, JSON's key and the word of `?sort=`. One that `is_exported_only` stands
    in CSV and JSON alone, where the page shows it within another cell.
    """

    name: str
    title: str
    value: Callable[[_Row], Plain]
    shown: Callable[[_Row], Markup | str] | None = None
    is_number: bool = False
    is_sortable: bool = False
    hint: str = ""
    is_exported_only: bool = False

    def cell(self, row: _Row) -> Markup | str:
        """What the page shows; text is escaped by the template."""
        if self.shown is not None:
            return self.shown(row)
        value = self.value(row)
        if isinstance(value, int) and self.is_number:
            return f"{value:,}"
        return "–" if value is None or value == "" else str(value)


@dataclass(frozen=True, slots=True)
class Table(Generic[_Row]):
    """Rows with their columns. `name` tells the tables of a page apart (`?table=`).

    `sort` is the column that they are sorted by now, "-" before it for the largest first. `more`
    is the address of the next page, `back` that of the one before, "" where there is none; `total`
    the number of all rows, where it is known. `empty` says what to do where there are none.
    """

    name: str
    title: str
    rows: Sequence[_Row]
    columns: Sequence[Column[_Row]]
    empty: str = "Nothing here."
    sort: str = ""
    more: str = ""
    back: str = ""
    total: int | None = None

    @property
    def shown(self) -> Sequence[Column[_Row]]:
        """The columns of the page."""
        return [one for one in self.columns if not one.is_exported_only]

    def plain(self) -> list[dict[str, Plain]]:
        """The rows as JSON has them."""
        return [{one.name: one.value(row) for one in self.columns} for row in self.rows]


def format_of(request: Request) -> str:
    """What is asked for: html, csv or json."""
    return choice_param(request, "format", (HTML, CSV, JSON), HTML)


def sort_of(request: Request, columns: Sequence[Column[_Row]], default: str) -> str:
    """The column to sort by, "-" before it for the largest first; 400 for one that is not there."""
    names = [one.name for one in columns if one.is_sortable]
    return choice_param(request, "sort", [*names, *(f"-{name}" for name in names)], default)


def ordered(rows: Sequence[_Row], columns: Sequence[Column[_Row]], sort: str) -> list[_Row]:
    """The rows in that order; those without a value come last."""
    name, is_falling = sort.removeprefix("-"), sort.startswith("-")
    value = next(one.value for one in columns if one.name == name)
    known = [row for row in rows if value(row) is not None]
    known.sort(key=lambda row: _comparable(value(row)), reverse=is_falling)
    return [*known, *(row for row in rows if value(row) is None)]


def exported(table: Table[_Row], kind: str, filename: str) -> Response:
    """The table as a file."""
    if kind == JSON:
        answer: Mapping[str, object] = {"rows": table.plain(), "next": table.more or None}
        return JSONResponse(json.loads(json.dumps(answer, allow_nan=False)))
    name = "".join(one if one.isalnum() or one in "-_" else "-" for one in filename)
    disposition = f'attachment; filename="{name.encode("ascii", "replace").decode()}.csv"'
    headers = {"content-disposition": disposition.replace("?", "-")}
    if table.more:
        headers["link"] = f'<{table.more}>; rel="next"'
    return Response(csv_of(table), media_type="text/csv; charset=utf-8", headers=headers)


def csv_of(table: Table[_Row]) -> str:
    """RFC 4180, with a header, and with an apostrophe before what a spreadsheet would calculate."""
    out = io.StringIO()
    csv.writer(out).writerow([one.name for one in table.columns])
    # Quoted, so that no text of a stranger's begins a cell where ; or a tab parts them.
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([_guarded(one.value(row)) for one in table.columns] for row in table.rows)
    return out.getvalue()


def _guarded(value: Plain) -> Plain:
    is_formula = isinstance(value, str) and value.lstrip(" ").startswith(FORMULA)
    return f"'{value}" if is_formula else value


def _comparable(value: Plain) -> tuple[bool, float, str]:
    if isinstance(value, int | float):
        return False, float(value), ""
    return True, 0.0, str(value).casefold()
