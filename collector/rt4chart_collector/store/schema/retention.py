"""The TTLs of tables: in new CREATE statements, and as changes of existing tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from rt4chart_collector.core.retention import Retention
from rt4chart_collector.store.schema.cluster import LOCAL_SUFFIX
from rt4chart_collector.store.schema.ddl import TABLE, CreateTable, parse_statement

TTL_IN_DAYS = re.compile(r"(?P<of>.+?) \+ toIntervalDay\((?P<days>\d+)\)")
TTL_CLAUSE = re.compile(r"\bTTL (?P<ttl>.+?)(?: SETTINGS |$)", re.S)
# ClickHouse deletes expired rows when it merges parts, and with `ttl_only_drop_parts` only parts of
# which all rows have expired: rows may outlive their days.
# The tables of each kind. A dead letter is useful only while its spans can be judged again.
SPAN_TABLES = {"otel_traces", "otel_traces_trace_id_ts", "rt4chart_dead_letters"}
VERDICT_TABLES = {
    "rt4chart_verifications",
    "rt4chart_claims",
    "rt4chart_trails",
    "rt4chart_criteria",
    "rt4chart_failed_answers",
    "rt4chart_failure_embeddings",
    "rt4chart_issue_assignments",
    "rt4chart_issue_memberships",
}
# These tables have no TTL in the migrations: they are kept forever unless the setting has days.
ISSUE_TABLES = {"rt4chart_issues": "toDate(LastSeen)"}
ROLLUP_TABLES = {
    "rt4chart_route_1m",
    "rt4chart_route_5m",
    "rt4chart_route_1h",
    "rt4chart_route_1d",
    "rt4chart_drift",
    "rt4chart_alert_events",
    "rt4chart_silences",
    "rt4chart_feedback",
    "rt4chart_labels",
    "rt4chart_label_draws",
    "rt4chart_label_queue",
    "rt4chart_corrected_rates",
}


def retention_days(retention: Retention, table: str) -> int:
    """The retention in days of a table or of its local part on a shard."""
    name = table.removesuffix(LOCAL_SUFFIX)
    if name in ISSUE_TABLES:
        return retention.issues
    kinds = (
        (SPAN_TABLES, retention.spans),
        (VERDICT_TABLES, retention.verdicts),
        (ROLLUP_TABLES, retention.rollup),
    )
    return next((days for names, days in kinds if name in names), retention.others)


def ttl_expression(retention: Retention, table: str, written: str) -> str:
    """The TTL that the table should have; a TTL that is not in whole days is left unchanged."""
    found = TTL_IN_DAYS.fullmatch(written)
    if written and not found:
        return written
    of = found["of"] if found else ISSUE_TABLES.get(table.removesuffix(LOCAL_SUFFIX), "")
    days = retention_days(retention, table)
    return f"{of} + toIntervalDay({days})" if of and days else ""


def with_ttl(retention: Retention, statement: str) -> str:
    """The statement, with the table's TTL if it is a CREATE TABLE."""
    if not TABLE.match(statement):
        return statement
    table = parse_statement(statement)
    if not isinstance(table, CreateTable) or table.like:
        return statement
    ttl = ttl_expression(retention, table.name, table.ttl)
    return statement if ttl == table.ttl else replace(table, ttl=ttl).sql


def ttl_changes(
    retention: Retention,
    engines: Mapping[str, str],
    tables: Collection[str],
    *,
    database: str,
    cluster: str = "",
) -> list[str]:
    """The ALTER statements that change the TTLs of a database's tables.

    `engines` has each table's full engine clause; only these `tables` are changed.
    """
    on = f" ON CLUSTER '{cluster}'" if cluster else ""
    changes = []
    for name, engine in sorted(engines.items()):
        if name.removesuffix(LOCAL_SUFFIX) not in tables or "MergeTree" not in engine.split(" ")[0]:
            continue
        found = TTL_CLAUSE.search(engine)
        written = found["ttl"].strip() if found else ""
        expected = ttl_expression(retention, name, written)
        if expected != written:
            change = f"MODIFY TTL {expected}" if expected else "REMOVE TTL"
            changes.append(f"ALTER TABLE {database}.{name}{on} {change}")
    return changes
