"""What differs between a database and its migrations: nothing, unless it was changed."""

from __future__ import annotations

import pytest

from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.compare_schema import schema_differences
from rt4chart_collector.store.schema.migrate import Migration, migrate, shipped_migrations

ALL = shipped_migrations()


@pytest.mark.parametrize("count", range(1, len(ALL) + 1))
def test_database_is_what_its_migrations_made(store_dsn: str, client: Client, count: int) -> None:
    """Our reading of the files agrees with the engine's, for each version."""
    with connect(store_dsn, database=f"{client.database}_{count}") as other:
        migrate(other, migrations=ALL[:count])
        assert schema_differences(other, ALL) == []
        other.command(f"DROP DATABASE {other.database}")


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            "ALTER TABLE rt4chart_claims ADD COLUMN Mine String",
            ["rt4chart_claims.Mine: no migration created this column"],
        ),
        (
            "ALTER TABLE rt4chart_claims DROP COLUMN Nearest",
            ["rt4chart_claims.Nearest: expected String, found none"],
        ),
        (
            "ALTER TABLE rt4chart_verifications MODIFY COLUMN ClaimCount UInt32",
            ["rt4chart_verifications.ClaimCount: expected UInt16, got UInt32"],
        ),
        (
            "ALTER TABLE rt4chart_verifications MODIFY COLUMN SampleWeight Float64 DEFAULT 1",
            ["rt4chart_verifications.SampleWeight: expected Float64 ALIAS, got Float64 DEFAULT"],
        ),
        (
            "DROP TABLE rt4chart_route_1m_mv",
            ["rt4chart_route_1m_mv: expected a table or view of that name, found none"],
        ),
        (
            "CREATE OR REPLACE VIEW otel_traces_verified AS SELECT 1 AS One",
            ["otel_traces_verified: its query differs from the query in the migration"],
        ),
        ("ALTER TABLE rt4chart_claims MODIFY TTL Timestamp + toIntervalMonth(1)", []),
        ("ALTER TABLE otel_traces ADD COLUMN TheirOwn String", []),
        (
            "ALTER TABLE otel_traces DROP COLUMN TraceState",
            ["otel_traces.TraceState: expected String, found none"],
        ),
    ],
)
def test_a_change_by_hand_is_named(client: Client, change: str, lines: list[str]) -> None:
    """Column or query; retention is a setting, and a collector's columns are its own."""
    client.command(change)

    assert schema_differences(client) == lines


def test_another_engine_and_other_keys_are_named(client: Client) -> None:
    """A table that was made by hand in the place of ours."""
    client.command("DROP TABLE rt4chart_issues")
    client.command(
        "CREATE TABLE rt4chart_issues AS rt4chart_issue_events ENGINE = SummingMergeTree "
        "PARTITION BY Kind ORDER BY (IssueId, Kind)"
    )

    lines = schema_differences(client)

    assert lines[:5] == [
        "rt4chart_issues: expected the engine ReplacingMergeTree, got SummingMergeTree",
        "rt4chart_issues: expected engine arguments Version, IsDeleted, got empty",
        "rt4chart_issues: expected PARTITION BY empty, got Kind",
        "rt4chart_issues: expected PRIMARY KEY IssueId, got IssueId, Kind",
        "rt4chart_issues: expected ORDER BY IssueId, got IssueId, Kind",
    ]
    assert "rt4chart_issues.Title: expected String, found none" in lines


def test_changes_of_later_migrations_are_followed(client: Client) -> None:
    """Columns that are changed, renamed, dropped, and a table that goes."""
    later = Migration(
        99,
        "later",
        "ALTER TABLE {database}.rt4chart_issue_assignments ADD COLUMN A Nested(B UInt8, C String), "
        "MODIFY COLUMN Distance Float64, RENAME COLUMN AssignedBy TO Way, "
        "ADD INDEX i Way TYPE set(8);"
        "DROP VIEW IF EXISTS {database}.otel_traces_verified;",
    )
    migrate(client, migrations=[*ALL, later])

    assert schema_differences(client, [*ALL, later]) == []
