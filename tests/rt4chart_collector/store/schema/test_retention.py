"""How long rows are kept: by kind of table, in new tables and in those that are there."""

from __future__ import annotations

import re

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.retention import Retention
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate
from rt4chart_collector.store.schema.retention import ttl_expression

DAYS = re.compile(r"toIntervalDay\((\d+)\)")
EACH = Retention(others=5, spans=7, verdicts=14, issues=60, rollup=90)
SET = {
    "otel_traces": 7,
    "otel_traces_trace_id_ts": 7,
    "rt4chart_alert_events": 90,
    "rt4chart_claims": 14,
    "rt4chart_corrected_rates": 90,
    "rt4chart_dead_letters": 7,
    "rt4chart_drift": 90,
    "rt4chart_failed_answers": 14,
    "rt4chart_failure_embeddings": 14,
    "rt4chart_feedback": 90,
    "rt4chart_grouping_runs": 5,
    "rt4chart_issue_assignments": 14,
    "rt4chart_issue_memberships": 14,
    "rt4chart_issues": 60,
    "rt4chart_label_draws": 90,
    "rt4chart_label_queue": 90,
    "rt4chart_labels": 90,
    "rt4chart_route_1d": 90,
    "rt4chart_route_1h": 90,
    "rt4chart_route_1m": 90,
    "rt4chart_route_5m": 90,
    "rt4chart_sampling_rates": 5,
    "rt4chart_silences": 90,
    "rt4chart_trails": 14,
    "rt4chart_criteria": 14,
    "rt4chart_verifications": 14,
}


def kept(client: Client) -> dict[str, int]:
    """Each table's days, of those that lose rows."""
    tables = client.query(
        "SELECT name, create_table_query FROM system.tables WHERE database = {db:String}",
        {"db": client.database},
    ).result_rows
    found = {name: int(days) for name, text in tables for days in DAYS.findall(text)}
    return {name: found[name] for name in (*SET, "otel_logs") if name in found}


def test_retention_holds_for_tables_that_are_there(client: Client) -> None:
    """Another number of days is set, by kind; issues are kept for ever unless told otherwise."""
    before = kept(client)

    assert migrate(client, retention=EACH) == []
    assert kept(client) == SET
    migrate(client, retention=Retention())
    assert kept(client) == before
    assert "rt4chart_issues" not in before


def test_retention_holds_for_new_tables(client: Client, store_dsn: str) -> None:
    """They are made with it, and need no change afterwards."""
    with connect(store_dsn, database=f"{client.database}_new") as other:
        migrate(other, retention=EACH)
        assert kept(other) == SET
        other.command(f"DROP DATABASE {other.database}")


def test_migrate_without_a_retention_leaves_it(client: Client) -> None:
    """A command that only needs the schema does not set the service's retention back."""
    migrate(client, retention=EACH)
    migrate(client)

    assert kept(client) == SET


def test_tables_of_others_keep_their_retention(client: Client) -> None:
    """A table in the same database that no migration made is not touched."""
    client.command(
        "CREATE TABLE otel_logs (Timestamp DateTime) ENGINE = MergeTree ORDER BY Timestamp "
        "TTL Timestamp + toIntervalDay(3)"
    )

    migrate(client, retention=EACH)

    assert kept(client) == SET | {"otel_logs": 3}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("toDate(Timestamp) + toIntervalDay(30)", "toDate(Timestamp) + toIntervalDay(7)"),
        (
            "toDate(Timestamp) + toIntervalDay(30) TO VOLUME 'cold'",
            "toDate(Timestamp) + toIntervalDay(30) TO VOLUME 'cold'",
        ),
        ("Timestamp + toIntervalMonth(3)", "Timestamp + toIntervalMonth(3)"),
    ],
)
def test_a_ttl_of_the_operator_s_own_stays(written: str, expected: str) -> None:
    """What is not a number of days is not ours to change."""
    assert ttl_expression(EACH, "otel_traces_local", written) == expected


def test_rows_are_gone_after_their_days(client: Client) -> None:
    """An old issue goes and a young one stays, where a retention is set."""
    client.command(
        "INSERT INTO rt4chart_issues (IssueId, FirstSeen, LastSeen, Version) VALUES "
        "(1, now() - INTERVAL 90 DAY, now() - INTERVAL 90 DAY, 1), "
        "(2, now() - INTERVAL 90 DAY, now(), 1)"
    )
    migrate(client, retention=EACH)

    client.command("OPTIMIZE TABLE rt4chart_issues FINAL")

    assert client.query("SELECT IssueId FROM rt4chart_issues").result_rows == [(2,)]


def test_settings_name_the_days() -> None:
    """One number for spans and verdicts, unless they are given apart; verdicts last two days."""
    environ = {"RT4CHART_TTL_DAYS": "9", "RT4CHART_SPANS_TTL_DAYS": "3"}

    both = load(ServiceSettings, {}, environ).retention

    assert both == Retention(others=9, spans=3, verdicts=9, issues=0, rollup=400)
    with pytest.raises(SettingsError, match="RT4CHART_VERDICTS_TTL_DAYS: expected at least 2"):
        load(ServiceSettings, {}, {"RT4CHART_VERDICTS_TTL_DAYS": "1"})
    assert load(ServiceSettings, {}, {"RT4CHART_TTL_DAYS": "1"}).retention.verdicts == 1
