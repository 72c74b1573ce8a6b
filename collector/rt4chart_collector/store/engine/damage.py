"""Parts of tables that the database cannot read: found, described, and set aside on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.engine_errors import code_of

# The engine sets a part aside whose files it cannot open, and starts without its rows.
LEFT_OUT = """
SELECT table, count() FROM system.detached_parts
WHERE database = {database:String} AND startsWith(reason, 'broken')
GROUP BY table ORDER BY table
"""
TABLES = """
SELECT name FROM system.tables
WHERE database = {database:String} AND endsWith(engine, 'MergeTree') ORDER BY name
"""
CHECK = "CHECK TABLE {database}.`{table}` SETTINGS check_query_single_value_result = 0"
PART = """
SELECT sum(rows), min(min_time), max(max_time) FROM system.parts
WHERE database = {database:String} AND table = {table:String} AND name = {part:String} AND active
"""
DETACH = "ALTER TABLE {database}.`{table}` DETACH PART '{part}'"
ADVICE = (
    "their rows are missing: restore the database from a backup (docs/deploy/layouts.md), or "
    "remove the parts from the tables' folders detached/ to accept the loss"
)
# What a table's rows are, for whoever decides to give some up.
MEANINGS = {
    "otel_traces": "spans: their traces are not shown, and not verified again",
    "rt4chart_verifications": "decisions on answers: those of the last day are made again",
    "rt4chart_claims": "claims: rates, lists and issues count fewer",
    "rt4chart_trails": "trails: of some claims it is not shown in which step they entered",
    "rt4chart_criteria": "criteria: their shares count fewer answers",
    "rt4chart_route_1m": "rates by minute: charts and rates of that time have gaps",
    "rt4chart_route_5m": "rates by five minutes: charts and rates of that time have gaps",
    "rt4chart_route_1h": "rates by hour: charts and rates of that time have gaps",
    "rt4chart_route_1d": "rates by day: rates of that time have gaps",
    "rt4chart_labels": "labels of people: corrected rates rest on fewer",
    "rt4chart_issues": "states of issues: some return to an earlier one",
}


@dataclass(frozen=True, slots=True)
class DamagedPart:
    """An active part with unreadable files: its rows, and the UTC times that they are from.

    The times are the epoch where the table's parts have none.
    """

    table: str
    name: str
    code: str
    rows: int
    first: datetime
    last: datetime

    def __str__(self) -> str:
        """One line: what is damaged, and what would be missing without it."""
        period = f" of {self.first:%Y-%m-%d %H:%M} to {self.last:%Y-%m-%d %H:%M} UTC"
        when = period if self.first.year > 1970 else ""
        meaning = MEANINGS.get(self.table, "see docs/reference/sql.md")
        return (
            f"{self.table}: part {self.name} is damaged ({self.code}), with {self.rows:,} rows"
            f"{when} ({meaning})"
        )


def left_out_parts(client: Client) -> Mapping[str, int]:
    """The number of parts by table that the database left out when it was opened."""
    found = client.query(LEFT_OUT, {"database": client.database})
    return {str(table): int(parts) for table, parts in found.result_rows}


def check_parts(client: Client, seconds: float = 1e9) -> Iterator[DamagedPart]:
    """Read every part of the database, and yield those that are damaged.

    Raises TimeoutError where that takes longer than so many seconds.
    """
    deadline = Deadline(seconds)
    tables = client.query(TABLES, {"database": client.database}).result_rows
    for (table,) in tables:
        if deadline.is_over:
            raise TimeoutError
        statement = CHECK.replace("{database}", client.database).replace("{table}", table)
        for name, is_whole, message in checked_parts(client.query(statement).result_rows):
            if is_whole != "1":
                yield _damaged(client, table, name, message)


def checked_parts(rows: Iterable[Sequence[object]]) -> Iterator[tuple[str, str, str]]:
    """Name, "1" if it is whole, and message of each part of a CHECK TABLE.

    The client may give the reply as one row that is cut at tabs alone, so that one cell has the end
    of a part's row and the start of the next one. A table without parts has one row of one column.
    """
    text = "\n".join("\t".join(map(str, row)) for row in rows)
    for line in text.split("\n"):
        cells = line.split("\t")
        if len(cells) == 3:
            yield cells[0], cells[1], cells[2]


def detach(client: Client, part: DamagedPart) -> None:
    """Set the part aside: its files go to the table's folder detached/. StoreError on failure."""
    statement = DETACH.replace("{database}", client.database).replace("{table}", part.table)
    client.command(statement.replace("{part}", part.name))


def describe_damage(found: Mapping[str, int]) -> str:
    """The tables with their damaged parts, as one line; empty without any."""
    return ", ".join(f"{table} ({parts})" for table, parts in found.items())


def damage_of(client: Client, seconds: float) -> tuple[Mapping[str, int], bool]:
    """The number of damaged active parts by table, and whether all parts were read in time."""
    found: Counter[str] = Counter()
    try:
        for part in check_parts(client, seconds):
            found[part.table] += 1
    except (TimeoutError, StoreError):
        return found, False
    return found, True


def _damaged(client: Client, table: str, name: str, message: str) -> DamagedPart:
    place = {"database": client.database, "table": table, "part": name}
    # No part of that name is active any more if it was merged meanwhile: an aggregate has a row.
    ((number, first, last),) = client.query(PART, place).result_rows
    return DamagedPart(table, name, code_of(message) or "unreadable", int(number), first, last)
