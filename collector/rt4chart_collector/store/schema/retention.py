"""The TTLs of tables: the retention in new tables, and in those that a database has."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from rt4chart_collector.core.retention import Retention
from rt4chart_collector.store.schema.cluster import LOCAL_SUFFIX
from rt4chart_collector.store.schema.ddl import TABLE, CreateTable, parse_statement

TTL_IN_DAYS = re.compile(r"(?P<of>.+?) \+ toIntervalDay\((?P<days>\d+)\)")
TTL_CLAUSE = re.compile(r"\bTTL (?P<ttl>.+?)(?: SETTINGS |$)", re.S)
# The tables of each kind. A dead letter is of use while the spans are there to be judged again.
SPAN_TABLES = {"otel_traces", "otel_traces_trace_id_ts", "rt4chart_dead_letters"}
VERDICT_TABLES = {
    "rt4chart_verifications",
    "rt4chart_claims",
    "rt4chart_failure_embeddings",
    "rt4chart_issue_assignments",
}
# Tables without a TTL in the migrations are kept for ever by default; the setting gives them this.
ISSUE_TABLES = {"rt4chart_issues": "toDate(LastSeen)"}
ROLLUP_TABLES = {
    "rt4chart_route_1m",
    "rt4chart_route_5m",
    "rt4chart_drift",
    "rt4chart_alert_events",
    "rt4chart_silences",
    "rt4chart_feedback",
}


def retention_days(retention: Retention, table: str) -> int:
    """The days of a table, or of the local part of it."""
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
    """The TTL that the table should have; one in another form than ours is left as it is."""
    found = TTL_IN_DAYS.fullmatch(written)
    if written and not found:
        return written
    of = found["of"] if found else ISSUE_TABLES.get(table.removesuffix(LOCAL_SUFFIX), "")
    days = retention_days(retention, table)
    return f"{of} + toIntervalDay({days})" if of and days else ""


def with_ttl(retention: Retention, statement: str) -> str:
    """The statement; a CREATE TABLE gets the TTL of its table."""
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
    ours: Collection[str],
    *,
    database: str,
    cluster: str = "",
) -> list[str]:
    """The ALTERs that give the tables of a database their TTLs.

    `engines` has each table's full engine clause; only tables of `ours` are touched.
    """
    on = f" ON CLUSTER '{cluster}'" if cluster else ""
    made = []
    for name, engine in sorted(engines.items()):
        if name.removesuffix(LOCAL_SUFFIX) not in ours or "MergeTree" not in engine.split(" ")[0]:
            continue
        found = TTL_CLAUSE.search(engine)
        written = found["ttl"].strip() if found else ""
        wanted = ttl_expression(retention, name, written)
        if wanted != written:
            change = f"MODIFY TTL {wanted}" if wanted else "REMOVE TTL"
            made.append(f"ALTER TABLE {database}.{name}{on} {change}")
    return made
