"""A table of the console, rendered as HTML, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from otel_rt4chart.core.text import formula_escaped
from rt4chart_collector.console.view.params import choice_param

CellValue: TypeAlias = str | int | float | bool | None
_Row = TypeVar("_Row")
HTML, CSV, JSON = "html", "csv", "json"
EMPTY_CELL = "–"


@dataclass(frozen=True, slots=True)
class Column(Generic[_Row]):
    """One column: `value` is for CSV, JSON and sorting, `render` for the page (default: the value).

    `name` is the CSV header, the JSON key and the value of `?sort=`. A column that
    `is_exported_only` is in CSV and JSON only; the page shows it within another cell.

    On a small screen each row is a card: a column that `is_lead` has a line of its own without its
    title, one that `is_minor` is left out, and the others follow each other with their titles.
    """

    name: str
    title: str
    value: Callable[[_Row], CellValue]
    render: Callable[[_Row], Markup | str] | None = None
    is_number: bool = False
    is_sortable: bool = False
    hint: str = ""
    is_exported_only: bool = False
    is_lead: bool = False
    is_minor: bool = False

    def cell(self, row: _Row) -> Markup | str:
        """The content of the cell on the page; the template escapes text."""
        if self.render is not None:
            return self.render(row)
        value = self.value(row)
        if isinstance(value, int) and self.is_number:
            return f"{value:,}"
        return EMPTY_CELL if value is None or value == "" else str(value)


@dataclass(frozen=True, slots=True)
class Table(Generic[_Row]):
    """Rows with their columns. `name` identifies the table on its page (`?table=`).

    `sort` is the current sort column, with a leading "-" for descending order. `more` and `back`
    are the URLs of the next and the previous page, "" if there is none. `total` is the number of
    all rows, if it is known. `empty` is shown if there are no rows, with what to do about it, and
    `note` below those of a table that does not have all, also in JSON.
    `offered` are the names of the columns that a reader can choose from, `chosen` those that were.
    """

    name: str
    title: str
    rows: Sequence[_Row]
    columns: Sequence[Column[_Row]]
    empty: str = "No rows."
    note: str = ""
    sort: str = ""
    more: str = ""
    back: str = ""
    total: int | None = None
    offered: Sequence[str] = ()
    chosen: Sequence[str] = ()

    @property
    def visible_columns(self) -> Sequence[Column[_Row]]:
        """The columns on the page: the chosen ones, else all but those for files."""
        chosen = [column for column in self.columns if column.name in self.chosen]
        return chosen or [column for column in self.columns if not column.is_exported_only]

    @property
    def offered_columns(self) -> Sequence[Column[_Row]]:
        """The columns that a reader can choose from."""
        return [column for column in self.columns if column.name in self.offered]

    def card_class(self, column: Column[_Row], cell: Markup | str) -> str:
        """How a card shows a cell of a column: as `lead`, `minor` or `blank` text, or with "".

        Without a column that `is_lead`, the first one leads.
        """
        shown = self.visible_columns
        leading = [one for one in shown if one.is_lead] or shown[:1]
        if column in leading:
            return "lead"
        if column.is_minor:
            return "minor"
        return "blank" if cell == EMPTY_CELL else ""

    def as_json(self) -> list[dict[str, CellValue]]:
        """The rows as JSON objects."""
        return [{column.name: column.value(row) for column in self.columns} for row in self.rows]


@dataclass(frozen=True, slots=True)
class TableLayout(Generic[_Row]):
    """A table without its rows."""

    name: str
    title: str
    columns: Sequence[Column[_Row]]
    empty: str

    def with_rows(self, rows: Sequence[_Row]) -> Table[Any]:
        """The table with these rows."""
        return Table(self.name, self.title, rows, self.columns, self.empty)


def format_param(request: Request) -> str:
    """The requested format: html, csv or json."""
    return choice_param(request, "format", (HTML, CSV, JSON), HTML)


def with_chosen_columns(
    request: Request, table: Table[_Row], *, extra: Sequence[str] = ()
) -> Table[_Row]:
    """The table with the columns of `?columns=`, which may be there several times.

    The columns of the page and the `extra` ones are offered; other names choose nothing.
    """
    shown = [column.name for column in table.columns if not column.is_exported_only]
    offered = (*shown, *extra)
    asked = set(request.query_params.getlist("columns"))
    return replace(table, offered=offered, chosen=[name for name in offered if name in asked])


def sort_param(request: Request, columns: Sequence[Column[_Row]], default: str) -> str:
    """The column to sort by, with a leading "-" for descending order; 400 for an unknown one."""
    names = [column.name for column in columns if column.is_sortable]
    return choice_param(request, "sort", [*names, *(f"-{name}" for name in names)], default)


def sorted_rows(rows: Sequence[_Row], columns: Sequence[Column[_Row]], sort: str) -> list[_Row]:
    """The rows in this order; rows without a value come last."""
    name, is_descending = sort.removeprefix("-"), sort.startswith("-")
    value = next(column.value for column in columns if column.name == name)
    known = [row for row in rows if value(row) is not None]
    known.sort(key=lambda row: _comparable(value(row)), reverse=is_descending)
    return [*known, *(row for row in rows if value(row) is None)]


def export_response(table: Table[_Row], kind: str, filename: str) -> Response:
    """The table as a CSV or JSON response."""
    if kind == JSON:
        answer: Mapping[str, object] = {"rows": table.as_json(), "next": table.more or None}
        if table.note:
            answer = {**answer, "total": table.total, "note": table.note}
        return JSONResponse(json.loads(json.dumps(answer, allow_nan=False)))
    name = "".join(
        character if character.isalnum() or character in "-_" else "-" for character in filename
    )
    disposition = f'attachment; filename="{name.encode("ascii", "replace").decode()}.csv"'
    headers = {"content-disposition": disposition.replace("?", "-")}
    if table.more:
        headers["link"] = f'<{table.more}>; rel="next"'
    return Response(csv_of(table), media_type="text/csv; charset=utf-8", headers=headers)


def csv_of(table: Table[_Row]) -> str:
    """RFC 4180 with a header; an apostrophe precedes cells that a spreadsheet would evaluate."""
    out = io.StringIO()
    csv.writer(out).writerow([column.name for column in table.columns])
    # Quoted, because a spreadsheet may also split cells at semicolons or tabs.
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows(
        [_formula_escaped(column.value(row)) for column in table.columns] for row in table.rows
    )
    return out.getvalue()


def _formula_escaped(value: CellValue) -> CellValue:
    return formula_escaped(value) if isinstance(value, str) else value


def _comparable(value: CellValue) -> tuple[bool, float, str]:
    if isinstance(value, int | float):
        return False, float(value), ""
    return True, 0.0, str(value).casefold()
