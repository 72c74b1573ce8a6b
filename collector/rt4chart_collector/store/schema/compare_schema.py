"""Compares the schema of a database with the schema that the migrations make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.schema.cluster import LOCAL_SUFFIX
from rt4chart_collector.store.schema.ddl import (
    AlterTable,
    ColumnDefinition,
    CreateTable,
    CreateView,
    DropStatement,
    InsertStatement,
    parse_columns,
    parse_statement,
    split_list,
)
from rt4chart_collector.store.schema.migrate import Migration, plan_migrations, shipped_migrations

# The OpenTelemetry Collector's exporter may have created these tables: only the columns that this
# project reads must exist, the rest belongs to the exporter.
EXPORTER_TABLES = {"otel_traces", "otel_traces_trace_id_ts", "otel_traces_trace_id_ts_mv"}
COLUMN_COMMAND = re.compile(
    r"(?P<verb>ADD|DROP|MODIFY|RENAME) COLUMN (?:IF (?:NOT )?EXISTS )?(?P<of>.+)", re.S
)
NEW_SORTING_KEY = "MODIFY ORDER BY"
COLUMN_POSITION = re.compile(r"\s+(?:AFTER [\w.]+|FIRST)$")
REPLICATED_ENGINE = re.compile(r"^(?:Shared|Replicated)")
TABLES = """
SELECT name, engine, engine_full, partition_key, sorting_key, primary_key,
    if(as_select = '', '', formatQuery(as_select))
FROM system.tables WHERE database = {db:String}
"""
COLUMNS = """
SELECT table, name, type, default_kind FROM system.columns
WHERE database = {db:String} ORDER BY table, position
"""


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table's or view's columns and keys, or its query."""

    engine: str
    columns: Mapping[str, ColumnDefinition] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    query: str = ""


def schema_differences(client: Client, migrations: Sequence[Migration] | None = None) -> list[str]:
    """One line for each difference between the database and its applied migrations."""
    plan = plan_migrations(
        client, migrations=shipped_migrations() if migrations is None else migrations
    )
    if not plan.applied:
        return []
    variant = plan.variant
    statements = [
        s for migration in plan.applied for s in variant.statements(migration, plan.applied)
    ]

    def canonical(query: str) -> str:
        found = client.query("SELECT formatQuery({query:String})", {"query": query})
        return str(found.result_rows[0][0])

    return differences(
        schema_of(statements, canonical), live_schema(client), is_newer=plan.is_newer
    )


def schema_of(statements: Sequence[str], canonical: Callable[[str], str]) -> dict[str, TableShape]:
    """The shapes of the tables after these statements; `canonical` normalizes a query."""
    shapes: dict[str, TableShape] = {}
    for statement in statements:
        made = parse_statement(statement)
        if isinstance(made, CreateTable):
            shapes.setdefault(made.name, _shape(made, shapes))
        elif isinstance(made, CreateView):
            engine = "MaterializedView" if made.target else "View"
            shapes[made.name] = TableShape(engine, query=canonical(made.query))
        elif isinstance(made, AlterTable):
            shapes[made.name] = _altered(shapes[made.name], made)
        elif isinstance(made, DropStatement):
            shapes.pop(made.name, None)
        elif isinstance(made, InsertStatement):
            continue
    return shapes


def live_schema(client: Client) -> dict[str, TableShape]:
    """The shapes of the client's database."""
    parameters = {"db": client.database}
    columns: dict[str, dict[str, ColumnDefinition]] = {}
    for table, name, kind, default in client.query(COLUMNS, parameters).result_rows:
        columns.setdefault(table, {})[name] = ColumnDefinition(name, kind, default)
    return {
        name: TableShape(
            engine,
            columns.get(name, {}) if not query else {},
            _keys(engine, _arguments(full), partition, primary, order),
            query,
        )
        for name, engine, full, partition, order, primary, query in client.query(
            TABLES, parameters
        ).result_rows
    }


def differences(
    expected: Mapping[str, TableShape], live: Mapping[str, TableShape], *, is_newer: bool = False
) -> list[str]:
    """The differences as text; tables that no migration created are ignored.

    In a database that `is_newer`, so are further columns with a default: those of a later version.
    """
    return [
        line
        for name, shape in expected.items()
        for line in _differences_of(name, shape, live.get(name), is_newer=is_newer)
    ]


def _differences_of(
    name: str, expected: TableShape, live: TableShape | None, *, is_newer: bool
) -> Iterator[str]:
    if live is None:
        yield f"{name}: expected a table or view of that name, found none"
        return
    is_foreign = name.removesuffix(LOCAL_SUFFIX) in EXPORTER_TABLES
    if not is_foreign:
        if _plain_engine(live.engine, expected.engine) != expected.engine:
            yield f"{name}: expected the engine {expected.engine}, got {live.engine}"
        for key, text in expected.keys.items():
            if (got := live.keys.get(key, "")) != text:
                yield f"{name}: expected {key} {text or 'empty'}, got {got or 'empty'}"
        if expected.query != live.query:
            yield f"{name}: its query differs from the query in the migration"
        for column in live.columns.keys() - expected.columns.keys():
            if is_newer and live.columns[column].kind == "DEFAULT":
                continue
            yield f"{name}.{column}: no migration created this column"
    for column, definition in expected.columns.items():
        found = live.columns.get(column)
        if found is None:
            yield f"{name}.{column}: expected {_column_text(definition)}, found none"
        elif found != definition:
            yield f"{name}.{column}: expected {_column_text(definition)}, got {_column_text(found)}"


def _column_text(column: ColumnDefinition) -> str:
    return f"{column.type} {column.kind}".strip()


def _plain_engine(engine: str, expected: str) -> str:
    """The engine without Shared or Replicated, which a managed server adds by itself."""
    return engine if REPLICATED_ENGINE.match(expected) else REPLICATED_ENGINE.sub("", engine)


def _shape(table: CreateTable, shapes: Mapping[str, TableShape]) -> TableShape:
    if table.like:
        return TableShape(table.engine, shapes[table.like].columns, {})
    columns = {column.name: column for column in table.columns}
    primary = table.primary_key or table.order_by
    keys = _keys(table.engine, table.arguments, table.partition_by, primary, table.order_by)
    return TableShape(table.engine, columns, keys)


def _keys(engine: str, arguments: str, partition: str, primary: str, order: str) -> dict[str, str]:
    if not engine.endswith("MergeTree"):
        return {}
    # The quoted arguments are a replicated engine's path and replica name: they differ by server.
    of_rows = [argument for argument in split_list(arguments) if not argument.startswith("'")]
    return {
        "engine arguments": ", ".join(of_rows),
        "PARTITION BY": _normalized_key(partition),
        "PRIMARY KEY": _normalized_key(primary),
        "ORDER BY": _normalized_key(order),
    }


def _arguments(full: str) -> str:
    match = re.match(r"\w+\((.*?)\)(?: |$)", full)
    return match[1] if match else ""


def _normalized_key(key: str) -> str:
    """A key as system.tables shows it: without outer brackets, with single spaces."""
    inner = key[1:-1] if key.startswith("(") and key.endswith(")") else key
    return re.sub(r"\s+", " ", inner).strip()


def _altered(shape: TableShape, alter: AlterTable) -> TableShape:
    columns, keys = dict(shape.columns), dict(shape.keys)
    for command in alter.commands:
        # The primary key stays what it was: a new column of the sorting key comes after it.
        if command.startswith(NEW_SORTING_KEY):
            keys["ORDER BY"] = _normalized_key(command.removeprefix(NEW_SORTING_KEY).strip())
        match = COLUMN_COMMAND.fullmatch(command)
        if match is None:
            continue
        if match["verb"] in ("ADD", "MODIFY"):
            columns |= {
                column.name: column
                for column in parse_columns(COLUMN_POSITION.sub("", match["of"]))
            }
        elif match["verb"] == "DROP":
            columns.pop(match["of"].strip())
        else:
            old, _, new = match["of"].partition(" TO ")
            columns[new.strip()] = replace(columns.pop(old.strip()), name=new.strip())
    return replace(shape, columns=columns, keys=keys)
