"""The cluster's statements: every table has its pair, and the engine's own parser takes them all.

Nothing here runs on a cluster. What is executed is executed on one engine, with what replicates
and distributes taken out.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.answers.answers import verified_answers
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import CLUSTER_SETTINGS, Client, connect
from rt4chart_collector.store.issues.failures import failures
from rt4chart_collector.store.rates.claim_rates import route_sums
from rt4chart_collector.store.schema.cluster import (
    LOCAL_SUFFIX,
    SHARD_PATH,
    SHARDING_KEYS,
    UNSHARDED,
    UNSHARDED_PATH,
    cluster_statements,
    kept_whole,
    local_table,
    sharding_keys,
)
from rt4chart_collector.store.schema.compare_schema import live_schema, schema_of
from rt4chart_collector.store.schema.ddl import (
    AlterTable,
    CreateTable,
    CreateView,
    DropStatement,
    InsertStatement,
    parse_statement,
)
from rt4chart_collector.store.schema.migrate import LEDGER_TABLE, SchemaVariant, shipped_migrations
from tests.rt4chart_collector.records import verdict

ALL = shipped_migrations()
SINGLE = [s for one in ALL for s in SchemaVariant("otel").statements(one, ALL)]
PROD = SchemaVariant("otel", "prod")
CLUSTER = [*PROD.ledger_statements()[1:], *(s for one in ALL for s in PROD.statements(one, ALL))]
SHARDING = sharding_keys(SINGLE)
MADE = [parse_statement(statement) for statement in CLUSTER]
TABLES = {made.name: made for made in MADE if isinstance(made, CreateTable)}
PLAIN = {made.name: made for made in map(parse_statement, SINGLE) if isinstance(made, CreateTable)}


def formatted(client: Client, statement: str) -> str:
    """The statement as the engine's parser writes it."""
    found = client.query("SELECT formatQuery({text:String})", {"text": statement})
    return str(found.result_rows[0][0])


def test_the_engine_s_parser_takes_every_statement(store_dsn: str) -> None:
    """Also what is printed for an operator; and the text that the parser gives back, again."""
    with connect(store_dsn) as client:
        for statement in PROD.script(ALL):
            written = formatted(client, statement)
            assert formatted(client, written) == written


def test_our_reading_of_a_table_is_whole(store_dsn: str) -> None:
    """A table that was taken apart and put together again is the same to the engine."""
    parsed = zip(map(parse_statement, SINGLE), SINGLE, strict=True)
    tables = [(made.sql, text) for made, text in parsed if isinstance(made, CreateTable)]

    assert tables
    with connect(store_dsn) as client:
        for made, statement in tables:
            assert formatted(client, made) == formatted(client, statement)


def test_every_statement_goes_to_the_whole_cluster() -> None:
    """No table, view or change is made on one server alone."""
    kinds = {CreateTable, CreateView, AlterTable, DropStatement, InsertStatement}
    assert {type(made) for made in MADE} <= kinds
    assert [
        made for made in MADE if not isinstance(made, InsertStatement) and made.cluster != "prod"
    ] == []
    assert PROD.ledger_statements()[0] == "CREATE DATABASE IF NOT EXISTS otel ON CLUSTER 'prod'"


@pytest.mark.parametrize("name", PLAIN)
def test_every_table_has_its_pair(name: str) -> None:
    """The rows in a replicated table with the same columns, keys and TTL, one over the shards."""
    plain, rows = PLAIN[name], TABLES[local_table(name, SHARDING)]
    path = SHARD_PATH if name in SHARDING else UNSHARDED_PATH

    assert rows.columns == plain.columns
    assert rows.body == plain.body
    assert (rows.partition_by, rows.primary_key, rows.order_by, rows.ttl) == (
        plain.partition_by,
        plain.primary_key,
        plain.order_by,
        plain.ttl,
    )
    assert rows.engine == f"Replicated{plain.engine}"
    assert rows.arguments == (f"{path}, {plain.arguments}" if plain.arguments else path)
    assert not any("non_replicated" in one for one in rows.settings)
    if name in SHARDING:
        over = TABLES[name]
        key = f"'prod', otel, {name}{LOCAL_SUFFIX}, {SHARDING[name]}"
        assert (over.engine, over.arguments, over.like) == (
            "Distributed",
            key,
            f"{name}{LOCAL_SUFFIX}",
        )


def test_every_distributed_table_points_at_one_that_was_made_before() -> None:
    """In the order in which they are applied, its columns being copied from there."""
    names = [made.name for made in MADE if isinstance(made, CreateTable)]
    over = [made for made in TABLES.values() if made.engine == "Distributed"]

    assert {made.name for made in over} == set(SHARDING)
    assert all(names.index(made.like) < names.index(made.name) for made in over)


def test_rows_that_replace_each_other_share_a_shard() -> None:
    """Where newer rows take the place of older ones, the shard is told by the sort key alone."""
    for name, key in SHARDING.items():
        order = PLAIN[name].order_by
        columns = re.findall(r"\w+", key.removeprefix("cityHash64"))
        if PLAIN[name].engine != "MergeTree":
            assert all(column in order for column in columns), name


def test_what_is_whole_and_what_is_sharded_is_decided() -> None:
    """All that is written per trace is sharded, but what is small and read whole."""
    whole = {name for name in PLAIN if name not in SHARDING}

    assert whole == {
        *UNSHARDED,
        "rt4chart_issues",
        "rt4chart_issue_events",
        "rt4chart_eval_cases",
        "rt4chart_eval_releases",
        "rt4chart_budget_leases",
        "rt4chart_leases",
        "rt4chart_monitor_hours",
        "rt4chart_monitor_states",
        "rt4chart_drift",
        "rt4chart_alert_events",
        "rt4chart_silences",
        "rt4chart_sampling_rates",
        "rt4chart_label_draws",
        "rt4chart_corrected_rates",
        "rt4chart_grouping_runs",
        "rt4chart_recalibrations",
        "rt4chart_rollup_starts",
        "rt4chart_saved_views",
    }
    assert set(SHARDING_KEYS) <= set(SHARDING)
    assert TABLES[LEDGER_TABLE].engine == "ReplicatedReplacingMergeTree"
    assert TABLES[LEDGER_TABLE].arguments.startswith(UNSHARDED_PATH)


def test_a_cluster_of_an_earlier_version_keeps_its_tables_whole() -> None:
    """Their later columns go to the tables that are there, and nothing is made beside them."""
    engines = {
        "rt4chart_failure_embeddings": "ReplicatedReplacingMergeTree('/p', 'r', Version)",
        "rt4chart_dead_letters": "Distributed('prod', otel, rt4chart_dead_letters_local)",
    }
    assert kept_whole({}) == frozenset()
    assert kept_whole(engines) == {"rt4chart_failure_embeddings"}
    kept = replace(PROD, whole=kept_whole(engines))

    made = [parse_statement(s) for one in ALL for s in kept.statements(one, ALL)]

    of_embeddings = {one.name for one in made if "failure_embeddings" in one.name}
    assert of_embeddings == {"rt4chart_failure_embeddings"}
    assert {one.name for one in made if "dead_letters" in one.name} == {
        "rt4chart_dead_letters",
        "rt4chart_dead_letters_local",
    }


def test_views_feed_the_shard_they_read() -> None:
    """A materialized view reads and writes local tables; other views read the whole cluster."""
    views = {made.name: made for made in MADE if isinstance(made, CreateView)}

    for name, view in views.items():
        read = set(re.findall(r"\botel\.(\w+)", view.query))
        if view.target:
            assert view.target.endswith(LOCAL_SUFFIX), name
            assert len(read) == 1, name
            assert all(one.endswith(LOCAL_SUFFIX) for one in read), name
        else:
            assert not any(one.endswith(LOCAL_SUFFIX) for one in read), name
            joins = re.findall(r"(?<!ARRAY )JOIN", view.query)
            assert len(joins) == len(re.findall("GLOBAL", view.query))
        assert read | ({view.target} - {""}) <= set(TABLES) | set(views), name


def test_a_column_is_added_below_and_above() -> None:
    """First to the rows, then to the table over them, which knows nothing else of an ALTER."""
    alter = (
        "ALTER TABLE otel.rt4chart_claims ADD COLUMN IF NOT EXISTS X Enum8('a, b' = 1, ')' = 2), "
        "ADD INDEX i X TYPE set(8), MODIFY SETTING a = 1, b = 2, DROP COLUMN IF EXISTS Y"
    )

    below, above = cluster_statements(alter, SHARDING, "prod")

    assert below == (
        "ALTER TABLE otel.rt4chart_claims_local ON CLUSTER 'prod'\n"
        "    ADD COLUMN IF NOT EXISTS X Enum8('a, b' = 1, ')' = 2),\n"
        "    ADD INDEX i X TYPE set(8),\n    MODIFY SETTING a = 1, b = 2,\n"
        "    DROP COLUMN IF EXISTS Y"
    )
    assert above == (
        "ALTER TABLE otel.rt4chart_claims ON CLUSTER 'prod'\n"
        "    ADD COLUMN IF NOT EXISTS X Enum8('a, b' = 1, ')' = 2),\n    DROP COLUMN IF EXISTS Y"
    )


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "ALTER TABLE otel.rt4chart_claims MODIFY TTL Timestamp + toIntervalDay(3)",
            ["ALTER TABLE otel.rt4chart_claims_local ON CLUSTER 'prod'\n"
             "    MODIFY TTL Timestamp + toIntervalDay(3)"],
        ),
        (
            "ALTER TABLE otel.rt4chart_issues ADD COLUMN A String",
            ["ALTER TABLE otel.rt4chart_issues ON CLUSTER 'prod'\n    ADD COLUMN A String"],
        ),
        (
            "DROP TABLE IF EXISTS otel.rt4chart_claims",
            ["DROP TABLE IF EXISTS otel.rt4chart_claims ON CLUSTER 'prod' SYNC",
             "DROP TABLE IF EXISTS otel.rt4chart_claims_local ON CLUSTER 'prod' SYNC"],
        ),
        (
            "DROP VIEW IF EXISTS otel.otel_traces_verified",
            ["DROP VIEW IF EXISTS otel.otel_traces_verified ON CLUSTER 'prod'"],
        ),
        (
            "CREATE OR REPLACE VIEW otel.v AS SELECT 1 WHERE 1 NOT IN (SELECT a FROM otel.b)",
            ["CREATE OR REPLACE VIEW otel.v ON CLUSTER 'prod' AS\n"
             "SELECT 1 WHERE 1 GLOBAL NOT IN (SELECT a FROM otel.b)"],
        ),
        (
            "INSERT INTO otel.rt4chart_claims SELECT * FROM otel.b",
            ["INSERT INTO otel.rt4chart_claims SELECT * FROM otel.b"],
        ),
    ],
)  # fmt: skip
def test_statement_of_a_later_migration_is_placed(statement: str, expected: list[str]) -> None:
    """Changes to the rows, removals, and views that are made anew."""
    assert cluster_statements(statement, SHARDING, "prod") == expected


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("OPTIMIZE TABLE otel.a", "expected a migration's statement"),
        ("CREATE TABLE IF NOT EXISTS otel.a (B UInt8) ENGINE = Memory", "of the MergeTree family"),
        ("ALTER TABLE otel.a_mv MODIFY QUERY SELECT 1", "DROP and CREATE of the view"),
        (
            "CREATE MATERIALIZED VIEW IF NOT EXISTS otel.m TO otel.a AS "
            "SELECT * FROM otel.rt4chart_claims JOIN otel.otel_traces USING TraceId",
            "expected one table in its query, got otel_traces, rt4chart_claims",
        ),
    ],
)
def test_statement_without_a_place_is_refused(statement: str, words: str) -> None:
    """What cannot be told apart for a cluster is an error of the migration, seen by its test."""
    with pytest.raises(StoreError, match=words):
        cluster_statements(statement, SHARDING, "prod")


def test_the_connection_s_settings_are_the_engine_s(client: Client) -> None:
    """Each of them is known by name, and none is what it is set to by default but as a guard."""
    rows = client.query(
        "SELECT name, default FROM system.settings WHERE name IN {names:Array(String)}",
        {"names": list(CLUSTER_SETTINGS)},
    ).result_rows
    known: dict[str, str] = dict(map(tuple, rows))

    assert set(known) == set(CLUSTER_SETTINGS)
    assert [name for name in CLUSTER_SETTINGS if known[name] == CLUSTER_SETTINGS[name]] == [
        "skip_unavailable_shards"
    ]


def stripped(statement: str) -> str:
    """The statement for one engine: plain tables for replicated ones, a Merge for what is over."""
    made = parse_statement(statement)
    text = statement.replace(" ON CLUSTER 'prod'", "")
    if isinstance(made, InsertStatement):
        # Nothing can be written into a Merge.
        return re.sub(rf"^(INSERT INTO \S+\.{made.name})\b", rf"\1{LOCAL_SUFFIX}", text)
    if isinstance(made, CreateTable) and made.like:
        over = f"Merge('{made.database}', '^{made.like}$')"
        return re.sub(r"ENGINE = Distributed\(.*\)$", f"ENGINE = {over}", text)
    for path in (SHARD_PATH, UNSHARDED_PATH):
        text = text.replace(f"({path}, ", "(").replace(f"({path})", "")
    return text.replace("ENGINE = Replicated", "ENGINE = ")


def test_the_tables_work_on_one_engine(client: Client, store_dsn: str) -> None:
    """Under tables of the engine Merge: the columns are right, and the queries give the rates."""
    insert_verdicts(client, [verdict(number) for number in range(1, 9)])
    variant = SchemaVariant(f"{client.database}_c", "prod")
    statements = [
        *variant.ledger_statements()[1:],
        *(s for m in ALL for s in variant.statements(m, ALL)),
    ]
    with connect(store_dsn, database=variant.database) as one:
        for statement in statements:
            one.command(stripped(statement))
        for name in ("rt4chart_verifications", "rt4chart_claims"):
            rows = f"{client.database}.{name} FINAL"
            one.command(f"INSERT INTO {name}_local SELECT * FROM {rows}")  # noqa: S608 - ours
        found = (route_sums(one), verified_answers(one), failures(one, since_ns=0))
        summed = one.query("SELECT sum(Answers), sum(Claims) FROM rt4chart_route_1m").result_rows
        one.query("SELECT * FROM otel_traces_verified")
        live = live_schema(one)
        one.command(f"DROP DATABASE {one.database}")

    assert found == (route_sums(client), verified_answers(client), failures(client, since_ns=0))
    assert summed == [(8, 16)]
    for name, shape in schema_of(statements, str).items():
        if name in TABLES:
            assert live[name].columns == shape.columns, name
            assert live[name].keys == shape.keys, name


@given(st.lists(st.sampled_from(["a", "(", ")", "'", "\\'", ",", "`", " "]), max_size=12))
def test_quotes_and_brackets_never_split(parts: list[str]) -> None:
    """What stands in a quoted value is no separator and no bracket."""
    value = "".join(parts).replace("\\", "").replace("'", "\\'")

    made = parse_statement(
        f"ALTER TABLE otel.a ADD COLUMN b String DEFAULT '{value}', DROP COLUMN c"
    )

    assert isinstance(made, AlterTable)
    assert made.commands == (f"ADD COLUMN b String DEFAULT '{value}'", "DROP COLUMN c")
