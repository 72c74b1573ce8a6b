"""Databases of earlier versions: brought to this one, they keep their rows and their rates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.connect import Client, connect
from rt4chart_collector.store.issues import Issue, insert_issues
from rt4chart_collector.store.migrate import migrate, shipped
from rt4chart_collector.store.rates import route_sums
from rt4chart_collector.store.rollup import repair_rollup
from rt4chart_collector.store.schema import drift
from rt4chart_collector.store.spans import insert_spans
from rt4chart_collector.store.verdicts import insert_verdicts
from tests.rt4chart_collector.records import NOON, SECOND, trace_spans, verdict

ALL = shipped()
COLUMNS = """
SELECT table, groupArray(name) FROM (
    SELECT table, name FROM system.columns
    WHERE database = {db:String} AND default_kind NOT IN ('ALIAS', 'MATERIALIZED')
      AND table IN (SELECT name FROM system.tables
                    WHERE database = {db:String} AND engine LIKE '%MergeTree')
    ORDER BY table, position
) WHERE table != 'rt4chart_schema_migrations' GROUP BY table ORDER BY table
"""
FILLED = ("otel_traces", "rt4chart_verifications", "rt4chart_claims", "rt4chart_issues")
ROLLUP = (
    "SELECT Route, sum(Answers), sum(WClaims), sum(WBaseless) FROM rt4chart_route_1m GROUP BY 1"
)


@pytest.fixture
def today(client: Client) -> Client:
    """A database of this version with verdicts, one of them replaced, spans and an issue."""
    insert_verdicts(client, [verdict(n, sample_rate=0.25) for n in range(1, 9)])
    insert_verdicts(client, [verdict(2, [Label.ENTAILED], decided_ns=NOON + 20 * SECOND)])
    insert_spans(client, [span for n in range(1, 9) for span in trace_spans(n)])
    insert_issues(client, [Issue(7, "t", "a:b", "s", "r", NOON, NOON, 3, (0.5,), "run")], version=1)
    return client


@pytest.fixture(params=range(1, len(ALL)), ids=lambda number: f"from {number:04}")
def old(request: pytest.FixtureRequest, store_dsn: str, today: Client) -> Iterator[Client]:
    """A database with the first migrations alone, and in it what today's has, as far as it goes."""
    with connect(store_dsn, database=f"{today.database}_old") as client:
        migrate(client, migrations=ALL[: request.param])
        # The views fill these three.
        fed = ("otel_traces_trace_id_ts", "rt4chart_route_1m", "rt4chart_route_5m")
        for table, names in client.query(COLUMNS, {"db": client.database}).result_rows:
            if table not in fed:
                columns = ", ".join(f"`{name}`" for name in names)
                final = "" if table == "otel_traces" else "FINAL"
                client.command(
                    f"INSERT INTO {table} ({columns}) "  # noqa: S608 - our own names
                    f"SELECT {columns} FROM {today.database}.{table} {final}"
                )
        yield client
        client.command(f"DROP DATABASE {client.database}")


def content(client: Client, table: str, names: list[str]) -> tuple[int, int]:
    """How many rows, and a sum over what is in these columns."""
    columns = ", ".join(f"`{name}`" for name in names)
    query = f"SELECT count(), sum(cityHash64({columns})) FROM {table}"  # noqa: S608 - ours
    ((count, total),) = client.query(query).result_rows
    return count, total


def test_rows_and_rates_survive_an_upgrade(old: Client, today: Client) -> None:
    """Not a row is lost or changed, the rates are the same, and nothing differs from a new one."""
    tables = old.query(COLUMNS, {"db": old.database}).result_rows
    before = {table: content(old, table, names) for table, names in tables}
    known = old.query("SELECT Id FROM rt4chart_schema_migrations FINAL ORDER BY Id").result_rows

    applied = migrate(old)
    repair_rollup(old, 0)

    after = {table: content(old, table, names) for table, names in tables}
    assert [number for (number,) in known] + applied == [one.number for one in ALL]
    assert after == before
    assert all(after[table][0] for table in FILLED)
    assert route_sums(old) == route_sums(today)
    assert old.query(ROLLUP).result_rows == today.query(ROLLUP).result_rows
    assert drift(old) == []
    assert migrate(old) == []
