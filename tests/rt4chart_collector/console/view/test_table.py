"""One table as a page, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from otel_rt4chart.core.text import FORMULA
from rt4chart_collector.console.view.table import (
    Column,
    Table,
    csv_of,
    export_response,
    sorted_rows,
    with_chosen_columns,
)

COLUMNS: tuple[Column[tuple[str, float | None]], ...] = (
    Column("name", "Name", lambda row: row[0], is_sortable=True),
    Column("n", "N", lambda row: row[1], is_sortable=True),
)


def table(*rows: tuple[str, float | None]) -> Table[tuple[str, float | None]]:
    """A table of these rows."""
    return Table("t", "T", rows, COLUMNS)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00")))
def test_no_cell_of_a_csv_is_a_formula(text: str) -> None:
    """A spreadsheet shows what a stranger wrote; it does not run it."""
    written = csv_of(table((text, 1.0)))

    ((_, _), (cell, number)) = csv.reader(io.StringIO(written, newline=""))
    assert not cell.lstrip(" ").startswith(FORMULA)
    assert cell in (text, f"'{text}")
    assert number == "1.0"


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "  =1",
        "＝1",
        "\u00a0=1",
        "\ufeff=1",
        "\u200b =1",
        "\u202e@x",
    ],
)
def test_what_a_spreadsheet_would_calculate_is_text(text: str) -> None:
    """With an apostrophe before it."""
    assert f"'{text}" in csv_of(table((text, None)))


@pytest.mark.parametrize("text", ["a;=1+1", "a\t=1+1", "a,=1"])
def test_a_cell_is_one_wherever_cells_are_parted(text: str) -> None:
    """A spreadsheet may part them at ; or tabs: a quoted cell stays whole."""
    assert f'"{text}"' in csv_of(table((text, None)))


def test_rows_without_a_value_come_last_either_way() -> None:
    """They are neither the least nor the most."""
    rows = [("a", 2.0), ("b", None), ("c", 1.0)]

    assert [row[0] for row in sorted_rows(rows, COLUMNS, "n")] == ["c", "a", "b"]
    assert [row[0] for row in sorted_rows(rows, COLUMNS, "-n")] == ["a", "c", "b"]


def test_a_file_names_the_next_page() -> None:
    """In a header of CSV, and in JSON itself."""
    full = Table("t", "T", [("a", 1.0)], COLUMNS, more="/t?page=2&format=csv")

    as_csv, as_json = export_response(full, "csv", 'x"\r\ny'), export_response(full, "json", "t")

    assert as_csv.headers["link"] == '</t?page=2&format=csv>; rel="next"'
    assert as_csv.headers["content-disposition"] == 'attachment; filename="x---y.csv"'
    assert json.loads(bytes(as_json.body)) == {
        "rows": [{"name": "a", "n": 1.0}],
        "next": "/t?page=2&format=csv",
    }


def test_a_card_is_led_by_its_first_column() -> None:
    """On a small screen the first column has a line of its own, unless others are named."""
    plain = table(("a", 1.0))
    named = Table("t", "T", (("a", 1.0),), (COLUMNS[0], replace(COLUMNS[1], is_lead=True)))

    assert [plain.card_class(column, "a") for column in plain.columns] == ["lead", ""]
    assert [named.card_class(column, "a") for column in named.columns] == ["", "lead"]


def test_a_card_leaves_out_what_is_minor_or_empty() -> None:
    """A cell without a value takes no place on a small screen."""
    columns = (COLUMNS[0], COLUMNS[1], replace(COLUMNS[1], name="m", is_minor=True))
    found = Table("t", "T", (("a", None),), columns)

    classes = [found.card_class(column, column.cell(("a", None))) for column in columns]

    assert classes == ["lead", "blank", "minor"]


def test_a_reader_chooses_columns() -> None:
    """Of those that the page offers, in their own order; an unknown name chooses nothing."""
    columns = (*COLUMNS, replace(COLUMNS[1], name="file", is_exported_only=True))
    found = Table("t", "T", (("a", 1.0),), columns)

    def shown(query: str, *extra: str) -> list[str]:
        request = Request({"type": "http", "query_string": query.encode(), "headers": []})
        table = with_chosen_columns(request, found, extra=extra)
        return [column.name for column in table.visible_columns]

    assert shown("") == ["name", "n"]
    assert shown("columns=n") == ["n"]
    assert shown("columns=n&columns=name") == ["name", "n"]
    assert shown("columns=nothing") == ["name", "n"]
    assert shown("columns=file") == ["name", "n"]
    assert shown("columns=file&columns=name", "file") == ["name", "file"]
