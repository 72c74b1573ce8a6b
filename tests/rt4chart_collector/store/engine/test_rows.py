"""Rows are written and read by column name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, NamedTuple

import pytest

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME_MS,
    RowTable,
    StoredAs,
    field_values,
    group,
    nested,
    read,
    read_by,
    read_int,
)

SECOND = 10**9


class Colour(StrEnum):
    """An enumeration of a column."""

    RED = "red"
    BLUE = "blue"


class Range(NamedTuple):
    """A value over two columns."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """An element of a Nested column."""

    name: str
    is_good: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """A row with a field of each kind."""

    at_ns: Annotated[int, StoredAs("At", TIME_MS)]
    colour: Annotated[Colour, StoredAs("Colour", "Enum8('red' = 1, 'blue' = 2)")]
    range: Annotated[
        Range, group(Range, start=StoredAs("Start", "UInt32"), end=StoredAs("End", "UInt32"))
    ]
    key: Annotated[
        tuple[str, int],
        group(tuple, name=StoredAs("Name", LOW_CARDINALITY), number=StoredAs("N", "Int32")),
    ]
    marks: Annotated[
        tuple[Mark, ...],
        nested(
            Mark,
            name=StoredAs("Marks.Name", "Array(String)"),
            is_good=StoredAs("Marks.IsGood", "Array(UInt8)", read=bool, write=int),
        ),
    ]
    words: Annotated[tuple[str, ...], StoredAs("Words", "Array(String)")] = ()
    is_deleted: Annotated[bool, StoredAs("IsDeleted", "UInt8")] = False


@dataclass(frozen=True, slots=True)
class Marked:
    """A row with a value whose columns follow from its dataclass."""

    name: str
    mark: Mark


SAMPLES = RowTable("samples", Sample)
ONE = Sample(
    at_ns=2 * SECOND,
    colour=Colour.BLUE,
    range=Range(3, 5),
    key=("a", -1),
    marks=(Mark("x", is_good=True), Mark("y", is_good=False)),
    words=("b", "c"),
    is_deleted=True,
)
TWO = Sample(3 * SECOND, Colour.RED, Range(0, 1), ("b", 2), ())


@pytest.fixture
def table(any_client: Client) -> Client:
    """A database with the table and two rows; its columns are in an order of their own."""
    any_client.command(
        "CREATE TABLE samples (IsDeleted UInt8, Words Array(String), Start UInt32, "
        "Marks Nested (IsGood UInt8, Name String), N Int32, Name LowCardinality(String), "
        "End UInt32, Colour Enum8('red' = 1, 'blue' = 2), At DateTime64(3, 'UTC')) "
        "ENGINE = MergeTree ORDER BY N SETTINGS non_replicated_deduplication_window = 10"
    )
    SAMPLES.insert(any_client, [ONE, TWO], token="first")  # noqa: S106 - of a batch
    return any_client


def test_rows_come_back_as_they_were_written(table: Client) -> None:
    """Times, enumerations, groups of columns and Nested columns are converted both ways."""
    query = f"SELECT {SAMPLES.select()} FROM samples ORDER BY N"  # noqa: S608 - our own names

    assert read(table, Sample, query) == [ONE, TWO]


def test_the_same_token_twice_is_written_once(table: Client) -> None:
    """A batch that is sent again changes nothing."""
    SAMPLES.insert(table, [ONE, TWO], token="first")  # noqa: S106 - of a batch
    SAMPLES.insert(table, [], token="none")  # noqa: S106

    assert read_int(table, "SELECT count() FROM samples") == 2


def test_the_order_of_a_query_s_columns_does_not_matter(table: Client) -> None:
    """A field takes the column of its name; others are left out."""

    @dataclass(frozen=True, slots=True)
    class Pair:
        name: str
        number: int

    query = "SELECT N * 2 AS number, 7 AS other, Name AS name FROM samples ORDER BY N"

    assert read(table, Pair, query) == [Pair("a", -2), Pair("b", 4)]


def test_a_field_with_a_default_may_have_no_column(table: Client) -> None:
    """Some fields of a table's rows are read, of an alias of the table in the query."""
    columns = SAMPLES.select("at_ns", "colour", "range", "key", "marks", table="s")
    found = read(table, Sample, f"SELECT {columns} FROM samples AS s WHERE N = -1")  # noqa: S608

    assert found == [Sample(ONE.at_ns, ONE.colour, ONE.range, ONE.key, ONE.marks)]


def test_a_field_without_a_column_is_named(table: Client) -> None:
    """The error says which field has no column, and what the query gives."""
    query = f"SELECT {SAMPLES.select('colour', 'words')} FROM samples"  # noqa: S608

    with pytest.raises(
        StoreError,
        match=r"each field of Sample, none for at_ns, range, key, marks; the query has colour, wor",
    ):
        read(table, Sample, query)


def test_no_rows_are_an_empty_list(table: Client) -> None:
    """The embedded engine names no columns of an empty result."""
    query = f"SELECT {SAMPLES.select()} FROM samples WHERE N = 99"  # noqa: S608

    assert read(table, Sample, query) == []


def test_a_dataclass_takes_a_column_for_each_of_its_fields(table: Client) -> None:
    """The columns have the name of the field and of its part."""
    query = "SELECT Name AS name, 'x' AS mark_name, N > 0 AS mark_is_good FROM samples ORDER BY N"

    assert read(table, Marked, query) == [
        Marked("a", Mark("x", is_good=False)),
        Marked("b", Mark("x", is_good=True)),
    ]


def test_rows_are_grouped_by_columns(table: Client) -> None:
    """The columns may be fields or not; an empty result has no groups."""
    query = (
        "SELECT Name AS name, N > 5 AS is_large, 'x' AS mark_name, 1 AS mark_is_good "
        "FROM samples ORDER BY N"
    )
    first, second = (Marked(name, Mark("x", is_good=True)) for name in ("a", "b"))

    assert read_by(table, "is_large", Marked, query) == {0: [first, second]}
    assert read_by(table, ("name", "is_large"), Marked, query) == {
        ("a", 0): [first],
        ("b", 0): [second],
    }
    assert read_by(table, "name", Marked, query.replace("ORDER", "WHERE N = 99 ORDER")) == {}


def test_fields_are_named_by_their_dataclass() -> None:
    """All of them, or those that another dataclass has too."""
    mark = Mark("x", is_good=True)

    assert field_values(mark) == {"name": "x", "is_good": True}
    assert field_values(Marked("a", mark), Mark) == {"name": "a"}
