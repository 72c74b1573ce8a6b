"""Table rows as frozen dataclasses: read and written by column name.

A row type annotates each field with its column:

    @dataclass(frozen=True, slots=True)
    class Silence:
        starts_ns: Annotated[int, StoredAs("Starts", "DateTime64(3, 'UTC')")]
        actor: Annotated[str, StoredAs("Actor", "String")]

    SILENCES = RowTable("rt4chart_silences", Silence)
    read(client, Silence, f"SELECT {SILENCES.select()} FROM rt4chart_silences FINAL")

The columns of an INSERT and of a SELECT follow from the row type. `read` needs no table: a field
takes the column of its own name, so a query over several tables names its columns with AS. A field
whose type is a dataclass takes a column for each of its fields: `sums: AnswerSums` takes
`sums_claims` and so on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.engine.connect import Client

# The column type of names with few distinct values: services, routes, judges.
LOW_CARDINALITY = "LowCardinality(String)"
TIME = "DateTime64(9, 'UTC')"
TIME_MS = "DateTime64(3, 'UTC')"
TIME_S = "DateTime('UTC')"
# Every time in a row is in nanoseconds since 1970. By prefix of the column type: the nanoseconds of
# its unit, and the function that converts it to a number.
TIME_UNITS = {
    "DateTime64(9": (1, "toUnixTimestamp64Nano"),
    "DateTime64(3": (10**6, "toUnixTimestamp64Milli"),
    "DateTime(": (10**9, "toUnixTimestamp"),
}

Row = TypeVar("Row")
Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class StoredAs:
    """A column's name and type; `read` and `write` convert values where the driver does not."""

    name: str
    type: str
    read: Convert | None = None
    write: Convert | None = None

    @property
    def unit(self) -> tuple[int, str]:
        """The nanoseconds of the unit and its function; (1, "") for a column that is no time."""
        inner = self.type.removeprefix("Array(")
        return next(
            (unit for start, unit in TIME_UNITS.items() if inner.startswith(start)), (1, "")
        )

    def expression(self, table: str = "") -> str:
        """The SQL expression of the value that a row has."""
        name = f"{table}.{self.name}" if table else self.name
        unit, function = self.unit
        if not function:
            return name
        if self.type.startswith("Array("):
            return f"arrayMap(t -> {function}(t), {name})"
        return f"{function}({name})" if unit == 1 else f"{function}({name}) * {unit}"


@dataclass(frozen=True, slots=True)
class SeveralColumns:
    """Several columns that form one value, each of them an attribute.

    `make` takes the parts in order. If `nested`, the columns are arrays of equal length, and the
    value is a tuple with one element for each index.
    """

    make: Callable[..., Any]
    parts: Mapping[str, StoredAs]
    nested: bool = False


def group(make: Callable[..., Any], **parts: StoredAs) -> SeveralColumns:
    """A value in several columns; with `tuple`, a plain tuple of them."""
    return SeveralColumns(make, parts)


def nested(make: Callable[..., Any], **parts: StoredAs) -> SeveralColumns:
    """A tuple of values in a Nested column, which is one array for each part."""
    return SeveralColumns(make, parts, nested=True)


@dataclass(frozen=True, slots=True)
class RowTable(Generic[Row]):
    """A table and the dataclass of its rows."""

    name: str
    row: type[Row]

    @property
    def columns(self) -> tuple[StoredAs, ...]:
        """The columns that are written, in the order of the row type."""
        return tuple(column for field in _fields(self.row) for column in field.columns.values())

    def select(self, *names: str, table: str = "") -> str:
        """The column list of a SELECT for `read`: of these fields, or of all.

        `table` is this table's alias in the query.
        """
        chosen = [field for field in _fields(self.row) if not names or field.name in names]
        return ", ".join(
            f"{column.expression(table)} AS {alias}"
            for field in chosen
            for alias, column in field.columns.items()
        )

    def insert(self, client: Client, rows: Sequence[Row], *, token: str) -> None:
        """Write the rows; of the last 1000 inserts, those with the same token are written once.

        The token must not depend on the order of the rows or the time of the attempt, so that a
        retry is recognized. Materialized views deduplicate by it too. A batch may cover any number
        of partitions (days), which ClickHouse limits to 100 by default.
        """
        if not rows:
            return
        # Given the types, the driver does not describe the table before each insert.
        client.insert(
            self.name,
            [values for field in _fields(self.row) for values in field.write(rows)],
            [column.name for column in self.columns],
            column_type_names=[column.type for column in self.columns],
            column_oriented=True,
            settings={
                "insert_deduplicate": 1,
                "insert_deduplication_token": token,
                # Without this, a repeated batch would be added to the rollups again.
                "deduplicate_blocks_in_dependent_materialized_views": 1,
                "max_partitions_per_insert_block": 0,
                # By a server's default, inserts may be asynchronous: acknowledged before they are
                # stored.
                "async_insert": 0,
            },
        )


def read(
    client: Client,
    row: type[Row],
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    settings: Mapping[str, object] | None = None,
) -> list[Row]:
    """The result of a query as rows of this type; other columns of the result are ignored.

    A field with a default value may lack a column. Raises StoreError if another field lacks one.
    """
    return _rows(row, _result_columns(client, query, parameters, settings))


def read_by(
    client: Client,
    by: str | tuple[str, ...],
    row: type[Row],
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    settings: Mapping[str, object] | None = None,
) -> dict[Any, list[Row]]:
    """Like `read`, by the value of a column or the values of several, which may be no fields."""
    columns = _result_columns(client, query, parameters, settings)
    if not columns:
        return {}
    keys = columns[by] if isinstance(by, str) else zip(*map(columns.get, by), strict=True)
    found: dict[Any, list[Row]] = {}
    for key, value in zip(keys, _rows(row, columns), strict=True):
        found.setdefault(key, []).append(value)
    return found


def read_int(
    client: Client,
    query: str,
    parameters: Mapping[str, object] | None = None,
    *,
    settings: Mapping[str, object] | None = None,
) -> int:
    """The number in the single row and column of a query's result."""
    ((value,),) = client.query(query, parameters, settings=settings).result_rows
    return int(value)


class Dataclass(Protocol):
    """An instance of any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def field_values(value: Dataclass, of: type[Dataclass] | None = None) -> dict[str, Any]:
    """The fields of a dataclass by name: all, or those that the dataclass `of` has too."""
    names = _shared_names(type(value), of or type(value))
    return {name: getattr(value, name) for name in names}


@cache
def _shared_names(row: type[Dataclass], of: type[Dataclass]) -> tuple[str, ...]:
    """The names of the fields that both have; cached, because claims are converted by thousands."""
    known = {field.name for field in fields(of)}
    return tuple(field.name for field in fields(row) if field.name in known)


def batch_token(kind: str, identities: Iterable[Sequence[object]]) -> str:
    """The token of a batch, from the identities of its rows in any order.

    A retry must resend the same rows: a batch that is cut differently has another token.
    """
    # Separators that ids do not contain keep ("a", "b") and ("ab",) apart.
    lines = sorted("\x1f".join(map(str, identity)) for identity in identities)
    return hashlib.sha256("\x1e".join([kind, *lines]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a row type, with its columns by their names in a result."""

    name: str
    columns: Mapping[str, StoredAs]
    is_required: bool
    of_several: SeveralColumns | None = None

    def read(self, result: Mapping[str, Sequence[Any]]) -> Iterable[Any]:
        """The field's value of every row."""
        several = self.of_several
        is_nested = several is not None and several.nested
        cells = [
            _converted(result[alias], column.read, is_nested=is_nested)
            for alias, column in self.columns.items()
        ]
        if several is None:
            return cells[0]
        if several.make is tuple:
            return zip(*cells, strict=True)
        if not several.nested:
            return map(several.make, *cells)
        return (tuple(map(several.make, *arrays)) for arrays in zip(*cells, strict=True))

    def write(self, rows: Sequence[Any]) -> list[Sequence[Any]]:
        """The values of every row for each of the columns."""
        values = list(map(attrgetter(self.name), rows))
        several = self.of_several
        if several is None:
            cells: list[Sequence[Any]] = [values]
        elif several.make is tuple:
            cells = list(zip(*values, strict=True))
        elif several.nested:
            getters = map(attrgetter, several.parts)
            cells = [[list(map(get, value)) for value in values] for get in getters]
        else:
            cells = [list(map(attrgetter(name), values)) for name in several.parts]
        is_nested = several is not None and several.nested
        return [
            _converted(values, column.write, is_nested=is_nested)
            for values, column in zip(cells, self.columns.values(), strict=True)
        ]


def _result_columns(
    client: Client,
    query: str,
    parameters: Mapping[str, object] | None,
    settings: Mapping[str, object] | None,
) -> dict[str, Sequence[Any]]:
    """The columns of a result by name; none for an empty result of the embedded engine."""
    result = client.query(query, parameters, settings=settings)
    if not result.column_names:
        return {}
    return dict(zip(result.column_names, result.result_columns, strict=True))


def _rows(row: type[Row], columns: Mapping[str, Sequence[Any]]) -> list[Row]:
    if not columns:
        return []
    found = [field for field in _fields(row) if columns.keys() >= field.columns.keys()]
    if missing := [field for field in _fields(row) if field.is_required and field not in found]:
        raise StoreError(
            f"expected a column of the query for each field of {row.__name__}, none for "
            f"{', '.join(field.name for field in missing)}; the query has {', '.join(columns)}"
        )
    values = [field.read(columns) for field in found]
    if len(found) == len(_fields(row)):
        return list(map(row, *values))
    names = [field.name for field in found]
    return [row(**dict(zip(names, cells, strict=True))) for cells in zip(*values, strict=True)]


# The fields of each row type: resolving type hints is slow, so it is done once.
_resolved: dict[type[Any], tuple[_Field, ...]] = {}


def _fields(row: type[Any]) -> tuple[_Field, ...]:
    if row not in _resolved:
        hints = get_type_hints(row, include_extras=True)
        _resolved[row] = tuple(
            _field(
                field.name,
                hints[field.name],
                is_required=field.default is field.default_factory is MISSING,
            )
            for field in fields(row)
        )
    return _resolved[row]


def _field(name: str, hint: object, *, is_required: bool) -> _Field:
    plain, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    several = next((note for note in notes if isinstance(note, SeveralColumns)), None)
    if isinstance(plain, type) and is_dataclass(plain) and not notes:
        several = group(plain, **{part.name: StoredAs(part.name, "") for part in fields(plain)})
    if several is not None:
        columns = {
            f"{name}_{part}": _with_type(column, None) for part, column in several.parts.items()
        }
        return _Field(name, columns, is_required, several)
    column = next((note for note in notes if isinstance(note, StoredAs)), StoredAs(name, ""))
    return _Field(name, {name: _with_type(column, plain)}, is_required)


def _with_type(column: StoredAs, plain: object) -> StoredAs:
    """The column with the conversions for the field's Python type."""
    if column.read is not None:
        return column
    if isinstance(plain, type) and issubclass(plain, Enum):
        # Cached, because calling an enum is slow, and claims are read by thousands.
        return replace(column, read=cache(plain), write=attrgetter("value"))
    if plain is bool:
        return replace(column, read=bool, write=int)
    if get_origin(plain) is tuple:
        return replace(column, read=tuple, write=list)
    unit, _ = column.unit
    return column if unit == 1 else replace(column, write=lambda time_ns: time_ns // unit)


def _converted(values: Sequence[Any], convert: Convert | None, *, is_nested: bool) -> Sequence[Any]:
    if convert is None:
        return values
    if is_nested:
        return [list(map(convert, cells)) for cells in values]
    return list(map(convert, values))
