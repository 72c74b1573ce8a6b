"""What commands print."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rt4chart_collector.core.printing import table

COLUMNS = ("id", "title", "state", "owner")
LISTED = table(
    COLUMNS,
    [
        ("ab12", "Number not as in the source, about days", "new", "–"),
        ("cd34", "Exclusion ignored\x1b[31m", "open", "ann"),
    ],
    title="title",
)


def lines_at(width: int) -> list[str]:
    """The listing as a terminal of that width shows it."""
    console = Console(width=width, file=io.StringIO(), highlight=False)
    console.print(LISTED)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_listing_is_a_table_where_it_fits() -> None:
    """A row a line, under the names of the columns."""
    head, first, second = lines_at(100)

    assert head.split() == list(COLUMNS)
    assert "Number not as in the source, about days  new" in first
    assert "\x1b" not in second


def test_columns_of_one_name_are_all_shown() -> None:
    """A query may give two columns one name."""
    console = Console(width=12, file=io.StringIO(), highlight=False)
    console.print(table(("a", "b", "b"), [("1", "long text", "another one")]))
    assert isinstance(console.file, io.StringIO)

    text = " ".join(console.file.getvalue().split())

    assert text == "1 b long text · b another one"


@pytest.mark.parametrize("width", [30, 40, 50])
def test_a_title_is_whole_on_a_narrow_terminal(width: int) -> None:
    """A paragraph for each row: its id, its title, and the other columns by name."""
    text = " ".join(" ".join(lines_at(width)).split())

    assert "ab12 Number not as in the source, about days state new cd34" in text
    assert "state open · owner ann" in text
    assert all(len(line) <= width for line in lines_at(width))
