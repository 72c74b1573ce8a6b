"""Migrations: applied once, refused when they changed."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.schema.compare_schema import schema_differences
from rt4chart_collector.store.schema.ddl import (
    AlterTable,
    CreateTable,
    CreateView,
    InsertStatement,
    parse_statement,
)
from rt4chart_collector.store.schema.migrate import Migration, migrate, shipped_migrations
from tests.conftest import fresh
from tests.rt4chart_collector.records import verdict

ALL = shipped_migrations()
ONE = ALL[0]


@pytest.fixture
def own_client(store_dsn: str) -> Iterator[Client]:
    """A database of one test, for changes of the ledger, which is not emptied between tests."""
    yield from fresh(store_dsn)


def test_migrate_twice_applies_nothing_more(client: Client) -> None:
    """A database that is up to date stays as it is."""
    assert migrate(client) == []


def test_migrate_makes_every_table(client: Client) -> None:
    """The spans, the verdicts, the rollup and the issues have their tables and views."""
    rows = client.query(
        "SELECT name FROM system.tables WHERE database = {db:String} ORDER BY name",
        {"db": client.database},
    )

    assert [name for (name,) in rows.result_rows] == [
        "otel_traces",
        "otel_traces_trace_id_ts",
        "otel_traces_trace_id_ts_mv",
        "otel_traces_verified",
        "rt4chart_alert_events",
        "rt4chart_budget_leases",
        "rt4chart_claims",
        "rt4chart_corrected_rates",
        "rt4chart_coverage",
        "rt4chart_criteria",
        "rt4chart_dead_letters",
        "rt4chart_drift",
        "rt4chart_eval_cases",
        "rt4chart_eval_releases",
        "rt4chart_failed_answers",
        "rt4chart_failed_answers_mv",
        "rt4chart_failure_embeddings",
        "rt4chart_failures",
        "rt4chart_feedback",
        "rt4chart_grouping_runs",
        "rt4chart_issue_assignments",
        "rt4chart_issue_events",
        "rt4chart_issue_memberships",
        "rt4chart_issues",
        "rt4chart_label_draws",
        "rt4chart_label_queue",
        "rt4chart_labels",
        "rt4chart_leases",
        "rt4chart_monitor_hours",
        "rt4chart_monitor_states",
        "rt4chart_rates",
        "rt4chart_rates_by_measure",
        "rt4chart_recalibrations",
        "rt4chart_rollup_starts",
        "rt4chart_route_1d",
        "rt4chart_route_1d_mv",
        "rt4chart_route_1h",
        "rt4chart_route_1h_mv",
        "rt4chart_route_1m",
        "rt4chart_route_1m_mv",
        "rt4chart_route_5m",
        "rt4chart_route_5m_mv",
        "rt4chart_sampling_rates",
        "rt4chart_saved_views",
        "rt4chart_schema_migrations",
        "rt4chart_silences",
        "rt4chart_trails",
        "rt4chart_unfaithful_claims",
        "rt4chart_verifications",
    ]


def test_migrate_applies_only_what_is_new(client: Client) -> None:
    """A later file is applied on top, and its placeholders are filled in."""
    later = Migration(99, "more", "CREATE TABLE {database}.more (N UInt8) ENGINE = Memory;")

    assert migrate(client, migrations=[*ALL, later]) == [99]
    assert client.query("SELECT count() FROM more").result_rows == [(0,)]


def test_rows_survive_a_later_migration(client: Client) -> None:
    """A column that is added is empty in the rows that are there; nothing else changes."""
    insert_verdicts(client, [verdict(1), verdict(2)])
    claims = "SELECT * EXCEPT (Later) FROM rt4chart_claims ORDER BY ALL"
    before = client.query(claims.replace(" EXCEPT (Later)", "")).result_rows
    later = Migration(99, "later", "ALTER TABLE {database}.rt4chart_claims ADD COLUMN Later UInt8;")

    migrate(client, migrations=[*ALL, later])

    assert client.query(claims).result_rows == before
    assert client.query("SELECT DISTINCT Later FROM rt4chart_claims").result_rows == [(0,)]
    assert schema_differences(client, [*ALL, later]) == []


def test_claims_of_an_earlier_version_get_the_status_of_their_label(own_client: Client) -> None:
    """Their answers were not checked for misleading claims, so no misleading rate counts them."""
    own_client.command(f"DROP DATABASE {own_client.database}")
    own_client.command(f"CREATE DATABASE {own_client.database}")
    migrate(own_client, migrations=ALL[:2])
    claim = "INSERT INTO rt4chart_claims (TraceId, Timestamp, ClaimIndex, Label, Reason, Version)"
    own_client.command(
        f"{claim} VALUES ('t', now(), 0, 'entailed', '', 1), ('t', now(), 1, 'contradicted', '', 1)"
        ", ('t', now(), 2, 'baseless', 'unlinked', 1), ('t', now(), 3, 'baseless', 'other', 1)"
    )
    own_client.command(
        "INSERT INTO rt4chart_verifications (TraceId, Timestamp, Decision, Label, SampleRate,"
        " EntailedCount, ContradictedCount, BaselessCount, Version)"
        " VALUES ('t', now(), 'verified', 'contradicted', 0.5, 1, 1, 2, 1)"
    )

    assert migrate(own_client)[:1] == [3]

    statuses = own_client.query("SELECT Status FROM rt4chart_claims FINAL ORDER BY ClaimIndex")
    assert [name for (name,) in statuses.result_rows] == [
        "supported",
        "contradicted",
        "unlinked",
        "unsupported",
    ]
    rates = own_client.query("SELECT Measure, Decided, Rate FROM rt4chart_rates_by_measure")
    assert rates.result_rows == [("unfaithful", 4, 0.75)]
    assert schema_differences(own_client) == []


def test_migrate_refuses_a_changed_file(client: Client) -> None:
    """A file that was applied must not read differently afterwards."""
    changed = replace(ONE, template=ONE.template + "-- changed")

    with pytest.raises(StoreError, match=r"migration 0001 .* was applied with another text"):
        migrate(client, migrations=[changed, *ALL[1:]])


def test_migrate_refuses_a_newer_database(client: Client) -> None:
    """A database that a newer version made is not touched."""
    with pytest.raises(StoreError, match=r"migration 0001 .*does not know"):
        migrate(client, migrations=[])


CLAIMS = [Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED]
LATER = Migration(
    9001,
    "owners_additive",
    "ALTER TABLE {database}.rt4chart_claims ADD COLUMN IF NOT EXISTS Owner String DEFAULT 'nobody';"
    "CREATE TABLE IF NOT EXISTS {database}.rt4chart_owners (Name String) "
    "ENGINE = MergeTree ORDER BY Name;",
)


def test_this_version_works_beside_an_additive_migration_of_the_next(own_client: Client) -> None:
    """As while the workers of a deployment are updated one by one."""
    assert migrate(own_client, migrations=[*ALL, LATER])[-1] == LATER.number

    assert migrate(own_client) == []
    insert_verdicts(own_client, [verdict(1, CLAIMS)])

    rows = own_client.query("SELECT Owner, count() FROM rt4chart_claims GROUP BY Owner")
    assert [tuple(row) for row in rows.result_rows] == [("nobody", len(CLAIMS))]
    # `rt4chart migrate` of this version would fail on them, and with it a way back in Compose.
    assert schema_differences(own_client) == []
    own_client.command("ALTER TABLE rt4chart_claims ADD COLUMN Own String")
    assert schema_differences(own_client) == [
        "rt4chart_claims.Own: no migration created this column"
    ]
    own_client.command("ALTER TABLE rt4chart_claims DROP COLUMN Own")
    assert migrate(own_client, migrations=[*ALL, LATER]) == []


def additive(statement: str, new: Container[str] = ()) -> bool:
    """Whether it makes a table, view, index or columns with a default, or fills a new table."""
    made = parse_statement(statement)
    if isinstance(made, AlterTable):
        return all(
            command.startswith("ADD INDEX")
            or (command.startswith("ADD COLUMN") and " DEFAULT " in command)
            for command in made.commands
        )
    if isinstance(made, InsertStatement):
        return made.name in new
    return isinstance(made, CreateTable | CreateView) and "IF NOT EXISTS" in statement


@pytest.mark.parametrize(
    ("statement", "is_additive"),
    [
        *((statement, True) for statement in LATER.statements({"database": "otel"})),
        ("ALTER TABLE otel.rt4chart_claims ADD INDEX i Text TYPE set(8)", True),
        ("ALTER TABLE otel.rt4chart_claims DROP COLUMN Text", False),
        ("INSERT INTO otel.rt4chart_claims SELECT * FROM otel.rt4chart_trails", False),
        ("ALTER TABLE otel.rt4chart_claims ADD COLUMN Owner String", False),
        ("ALTER TABLE otel.rt4chart_claims MODIFY COLUMN Text LowCardinality(String)", False),
    ],
)
def test_additive_statements_are_told_from_others(statement: str, is_additive: bool) -> None:
    """What the rule below rests on."""
    assert additive(statement) is is_additive


def test_migrations_that_are_called_additive_are() -> None:
    """A version that does not know them reads and writes the tables as before."""
    values = {"database": "otel", "ttl_days": "30", "rollup_ttl_days": "400"}
    called = [one for one in [*ALL, LATER] if one.is_additive]

    for migration in called:
        statements = migration.statements({**values, "embedding_width": "256"})
        made = map(parse_statement, statements)
        new = {one.name for one in made if isinstance(one, CreateTable)}
        assert [one for one in statements if not additive(one, new)] == []


def test_migrate_refuses_a_database_of_an_unreleased_version(own_client: Client) -> None:
    """Before 0.1.0 there were eight migrations: the error says what to do with such a database."""
    own_client.command("TRUNCATE TABLE rt4chart_schema_migrations")
    names = ("spans_verdicts_issues", "passage_stages", "dead_letters", "traces_verified")
    rows = [[number, name, "0" * 64] for number, name in enumerate(names, start=1)]
    own_client.insert("rt4chart_schema_migrations", rows, ["Id", "Name", "Checksum"])

    with pytest.raises(
        StoreError, match=r"before 0\.1\.0, .*\(rt4chart export\), then point RT4CHART_DSN at a new"
    ):
        migrate(own_client)


def test_migrate_refuses_to_make_a_cluster_of_a_single_server(client: Client) -> None:
    """A database stays of its kind; the error says what to set."""
    with pytest.raises(StoreError, match=r"of a single server, and RT4CHART_CLUSTER asks .*'prod'"):
        migrate(client, cluster="prod")
