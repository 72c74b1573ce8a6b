"""How long rows are kept: the setting's days in the TTL of each table, old tables too."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from rt4chart_collector.store.cluster import LOCAL
from rt4chart_collector.store.ddl import TABLE, Table, parsed

IN_DAYS = re.compile(r"(?P<of>.+?) \+ toIntervalDay\((?P<days>\d+)\)")
WRITTEN = re.compile(r"\bTTL (?P<ttl>.+?)(?: SETTINGS |$)", re.S)
# What lives as long as what. A letter is of use while the spans are there to be judged again.
SPANS = {"otel_traces", "otel_traces_trace_id_ts", "rt4chart_dead_letters"}
VERDICTS = {
    "rt4chart_verifications",
    "rt4chart_claims",
    "rt4chart_failure_embeddings",
    "rt4chart_issue_assignments",
}
# These have no TTL in their file: they are kept unless told otherwise.
ISSUES = {
    "rt4chart_issues": "toDate(LastSeen)",
    "rt4chart_issue_members": "toDate(Timestamp)",
}
ROLLUP = {
    "rt4chart_route_1m",
    "rt4chart_route_5m",
    "rt4chart_drift",
    "rt4chart_alert_events",
    "rt4chart_silences",
    "rt4chart_feedback",
}


@dataclass(frozen=True, slots=True)
class Retention:
    """Days to keep the rows of each kind of table; `others` is for those that are not named.

    Issues of 0 days are kept for ever.
    """

    others: int = 30
    spans: int = 30
    verdicts: int = 30
    issues: int = 0
    rollup: int = 400

    def days(self, table: str) -> int:
        """The days of a table, or of the local part of it."""
        name = table.removesuffix(LOCAL)
        kinds = ((SPANS, self.spans), (VERDICTS, self.verdicts), (ROLLUP, self.rollup))
        of_kind = (days for names, days in kinds if name in names)
        return self.issues if name in ISSUES else next(of_kind, self.others)

    def ttl(self, table: str, written: str) -> str:
        """The TTL that the table shall have; one in another form than ours is left as it is."""
        found = IN_DAYS.fullmatch(written)
        if written and not found:
            return written
        of = found["of"] if found else ISSUES.get(table.removesuffix(LOCAL), "")
        days = self.days(table)
        return f"{of} + toIntervalDay({days})" if of and days else ""

    def settled(self, statement: str) -> str:
        """The statement, a CREATE TABLE with this TTL."""
        if not TABLE.match(statement):
            return statement
        table = parsed(statement)
        if not isinstance(table, Table) or table.like:
            return statement
        ttl = self.ttl(table.name, table.ttl)
        return statement if ttl == table.ttl else replace(table, ttl=ttl).sql

    def changes(
        self, engines: Mapping[str, str], ours: Collection[str], *, database: str, cluster: str = ""
    ) -> list[str]:
        """The ALTERs that make live tables keep their rows so long.

        `engines` has each table's full engine clause; only tables of `ours` are touched.
        """
        on = f" ON CLUSTER '{cluster}'" if cluster else ""
        made = []
        for name, engine in sorted(engines.items()):
            if name.removesuffix(LOCAL) not in ours or "MergeTree" not in engine.split(" ")[0]:
                continue
            found = WRITTEN.search(engine)
            written = found["ttl"].strip() if found else ""
            wanted = self.ttl(name, written)
            if wanted != written:
                change = f"MODIFY TTL {wanted}" if wanted else "REMOVE TTL"
                made.append(f"ALTER TABLE {database}.{name}{on} {change}")
        return made
