"""Migrations for a cluster: a replicated table on every shard, and a Distributed table over it.

Pure functions: statements for a single server in, statements for a cluster out. Both kinds of
databases come from the same files, so the checksums hold in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.schema.ddl import (
    AlterTable,
    CreateTable,
    CreateView,
    DropStatement,
    InsertStatement,
    parse_statement,
)

LOCAL_SUFFIX = "_local"
SHARD_PATH = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"
# Without a shard in the path all servers hold the same rows. The name of a replica must then be
# unique across shards, which the {replica} macro alone does not guarantee.
UNSHARDED_PATH = "'/clickhouse/tables/{database}/{table}', '{shard}-{replica}'"
BY_TRACE = "cityHash64(TraceId)"
BY_ROUTE = "cityHash64(ServiceName, Route)"
SHARDING_KEYS = {
    "rt4chart_route_1m": BY_ROUTE,
    "rt4chart_route_5m": BY_ROUTE,
    "rt4chart_route_1h": BY_ROUTE,
    "rt4chart_route_1d": BY_ROUTE,
}
# Small tables that queries read completely: every server holds all rows.
UNSHARDED = {"rt4chart_labels", "rt4chart_label_queue"}
# Tables that version 0.1.0 made whole on every server: a database that has them so keeps them.
ONCE_WHOLE = {"rt4chart_dead_letters", "rt4chart_failure_embeddings"}
SINGLE_SERVER_SETTING = "non_replicated_deduplication_window"
# A Distributed table has columns only; keys, indexes, projections, settings and TTLs belong to the
# local tables under it.
COLUMN_COMMAND = re.compile(r"(?:ADD|DROP|MODIFY|RENAME|COMMENT) COLUMN\b")
JOIN = re.compile(r"(?<!GLOBAL )\b((?:LEFT|RIGHT|INNER|FULL) (?:\w+ )?JOIN)\b")
IN_SUBQUERY = re.compile(r"(?<!GLOBAL )\b((?:NOT )?IN) \((?=\s*SELECT\b)")
Sharding = Mapping[str, str]


def sharding_keys(statements: Iterable[str]) -> dict[str, str]:
    """The sharding key of each sharded table; other tables are complete on every server."""
    keys = {}
    for statement in statements:
        made = parse_statement(statement)
        if isinstance(made, CreateTable) and (key := _sharding_key(made)):
            keys[made.name] = key
    return keys


def kept_whole(engines: Mapping[str, str]) -> frozenset[str]:
    """The tables that this database has whole and a new one shards, by the tables' engines."""
    return frozenset(
        name for name in ONCE_WHOLE if "MergeTree" in engines.get(name, "").partition("(")[0]
    )


def cluster_statements(statement: str, sharding: Sharding, cluster: str) -> list[str]:
    """The statements for a cluster that match this statement for a single server.

    Raises StoreError for a statement without an equivalent on a cluster.
    """
    made = parse_statement(statement)
    if isinstance(made, InsertStatement):
        return [made.sql]
    if isinstance(made, CreateTable):
        return [table.sql for table in _tables(made, sharding.get(made.name, ""), cluster)]
    if isinstance(made, CreateView):
        return [_view(made, sharding, cluster)]
    if isinstance(made, AlterTable):
        return _altered_tables(made, sharding, cluster)
    return _dropped_tables(made, sharding, cluster)


def local_table(table: str, sharding: Sharding) -> str:
    """The table that holds the rows: X_local for a sharded table X."""
    return table + LOCAL_SUFFIX if table in sharding else table


def _sharding_key(table: CreateTable) -> str:
    if table.name in SHARDING_KEYS:
        return SHARDING_KEYS[table.name]
    is_of_trace = any(column.name == "TraceId" for column in table.columns)
    return BY_TRACE if is_of_trace and table.name not in UNSHARDED else ""


def _tables(table: CreateTable, key: str, cluster: str) -> list[CreateTable]:
    if not table.engine.endswith("MergeTree"):
        raise StoreError(
            f"{table.name}: expected an engine of the MergeTree family, got {table.engine}"
        )
    path = SHARD_PATH if key else UNSHARDED_PATH
    rows = replace(
        table,
        name=table.name + LOCAL_SUFFIX if key else table.name,
        engine=f"Replicated{table.engine}",
        arguments=f"{path}, {table.arguments}" if table.arguments else path,
        cluster=cluster,
        settings=tuple(
            setting for setting in table.settings if not setting.startswith(SINGLE_SERVER_SETTING)
        ),
    )
    if not key:
        return [rows]
    over = CreateTable(
        table.database,
        table.name,
        "Distributed",
        f"'{cluster}', {table.database}, {rows.name}, {key}",
        like=rows.name,
        cluster=cluster,
    )
    return [rows, over]


def _view(view: CreateView, sharding: Sharding, cluster: str) -> str:
    place = f"{view.database}.{view.name} ON CLUSTER '{cluster}'"
    if not view.target:
        verb = "CREATE OR REPLACE VIEW" if view.replaces else "CREATE VIEW IF NOT EXISTS"
        return f"{verb} {place} AS\n{_global(view.query)}"
    read = _tables_read(view)
    if len(read) != 1:
        raise StoreError(
            f"{view.name}: a materialized view on a cluster reads inserts into one table of one "
            f"shard; expected one table in its query, got {', '.join(read) or 'none'}"
        )
    source = local_table(read[0], sharding)
    # A shard writes into its own part of the target; an unsharded target is written directly.
    target = local_table(view.target, sharding) if read[0] in sharding else view.target
    query = re.sub(rf"\b{view.database}\.{read[0]}\b", f"{view.database}.{source}", view.query)
    return (
        f"CREATE MATERIALIZED VIEW IF NOT EXISTS {place}\nTO {view.database}.{target} AS\n{query}"
    )


def _tables_read(view: CreateView) -> Sequence[str]:
    return sorted(set(re.findall(rf"\b{view.database}\.(\w+)\b", view.query)))


def _global(query: str) -> str:
    """The query with GLOBAL joins and subqueries: evaluated once, over all shards."""
    return IN_SUBQUERY.sub(r"GLOBAL \1 (", JOIN.sub(r"GLOBAL \1", query))


def _altered_tables(alter: AlterTable, sharding: Sharding, cluster: str) -> list[str]:
    if any(command.startswith("MODIFY QUERY") for command in alter.commands):
        raise StoreError(f"{alter.name}: expected DROP and CREATE of the view, got MODIFY QUERY")
    rows = local_table(alter.name, sharding)
    made = [_alter(alter, rows, alter.commands, cluster)]
    columns = [command for command in alter.commands if COLUMN_COMMAND.match(command)]
    if rows != alter.name and columns:
        made.append(_alter(alter, alter.name, columns, cluster))
    return made


def _alter(alter: AlterTable, name: str, commands: Sequence[str], cluster: str) -> str:
    listed = ",\n    ".join(commands)
    return f"ALTER TABLE {alter.database}.{name} ON CLUSTER '{cluster}'\n    {listed}"


def _dropped_tables(drop: DropStatement, sharding: Sharding, cluster: str) -> list[str]:
    names = [drop.name]
    if drop.kind == "TABLE" and drop.name in sharding:
        names.append(drop.name + LOCAL_SUFFIX)
    sync = " SYNC" if drop.kind == "TABLE" else ""
    return [
        f"DROP {drop.kind} IF EXISTS {drop.database}.{name} ON CLUSTER '{cluster}'{sync}"
        for name in names
    ]
