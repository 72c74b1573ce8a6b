"""The TTLs of tables: the retention in new tables, and in those that a database has."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from rt4chart_collector.core.retention import Retention
from rt4chart_collector.store.schema.cluster import LOCAL
from rt4chart_collector.store.schema.ddl import TABLE, Table, parsed

IN_DAYS = re.compile(r"(?P<of>.+?) \+ toIntervalDay\((?P<days>\d+)\)")
WRITTEN = re.compile(r"\bTTL (?P<ttl>.+?)(?: SETTINGS |$)", re.S)
# The tables of each kind. A dead letter is of use while the spans are there to be judged again.
SPANS = {"otel_traces", "otel_traces_trace_id_ts", "rt4chart_dead_letters"}
VERDICTS = {
    "rt4chart_verifications",
    "rt4chart_claims",
    "rt4chart_failure_embeddings",
    "rt4chart_issue_assignments",
}
# Tables without a TTL in the migrations are kept for ever by default; the setting gives them this.
ISSUES = {"rt4chart_issues": "toDate(LastSeen)"}
ROLLUP = {
    "rt4chart_route_1m",
    "rt4chart_route_5m",
    "rt4chart_drift",
    "rt4chart_alert_events",
    "rt4chart_silences",
    "rt4chart_feedback",
}


def days_of(retention: Retention, table: str) -> int:
    """The days of a table, or of the local part of it."""
    name = table.removesuffix(LOCAL)
    if name in ISSUES:
        return retention.issues
    kinds = ((SPANS, retention.spans), (VERDICTS, retention.verdicts), (ROLLUP, retention.rollup))
    return next((days for names, days in kinds if name in names), retention.others)


def ttl_of(retention: Retention, table: str, written: str) -> str:
    """The TTL that the table should have; one in another form than ours is left as it is."""
    found = IN_DAYS.fullmatch(written)
    if written and not found:
        return written
    of = found["of"] if found else ISSUES.get(table.removesuffix(LOCAL), "")
    days = days_of(retention, table)
    return f"{of} + toIntervalDay({days})" if of and days else ""


def with_ttl(retention: Retention, statement: str) -> str:
    """The statement; a CREATE TABLE gets the TTL of its table."""
    if not TABLE.match(statement):
        return statement
    table = parsed(statement)
    if not isinstance(table, Table) or table.like:
        return statement
    ttl = ttl_of(retention, table.name, table.ttl)
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
        if name.removesuffix(LOCAL) not in ours or "MergeTree" not in engine.split(" ")[0]:
            continue
        found = WRITTEN.search(engine)
        written = found["ttl"].strip() if found else ""
        wanted = ttl_of(retention, name, written)
        if wanted != written:
            change = f"MODIFY TTL {wanted}" if wanted else "REMOVE TTL"
            made.append(f"ALTER TABLE {database}.{name}{on} {change}")
    return made
