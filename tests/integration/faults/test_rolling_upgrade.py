"""A deployment whose processes are updated one by one, and back, while all of them write."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import takewhile
from pathlib import Path

import pytest

from rt4chart_collector.demo.processes import free_port
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.rates.rollup import fill_next_day, find_wrong_sums
from rt4chart_collector.store.schema.compare_schema import schema_differences
from rt4chart_collector.store.schema.migrate import migrate, shipped_migrations
from tests.clickhouse_server import database, dsn_of
from tests.integration.faults.earlier_version import earlier_version
from tests.integration.faults.load import CLAIMS, EXACT, ROLLUP
from tests.integration.needs import SHORT
from tests.polling import wait_until

pytestmark = [pytest.mark.e2e, SHORT]
ALL = shipped_migrations()
# The version before has none of the last migrations that are additive.
NEW = len(list(takewhile(lambda migration: migration.is_additive, reversed(ALL))))
KNOWN = len(ALL) - NEW
STEP, PATIENCE_S = 40, 180
ANSWERS = """
SELECT count(), uniqExact(TraceId, SpanId) FROM rt4chart_verifications FINAL WHERE IsDeleted = 0
"""
FAILED = """
SELECT (SELECT countIf(ContradictedCount > 0) FROM rt4chart_verifications FINAL),
    (SELECT uniqExact(TraceId, SpanId) FROM rt4chart_failed_answers WHERE Measure = 'unfaithful')
"""
PER_HOUR = "SELECT sum(Answers) FROM rt4chart_route_1h"


def decided(client: Client) -> int:
    """The answers with a decision at this moment."""
    return int(client.query(ANSWERS).result_rows[0][0])


def wait_for_more(client: Client) -> None:
    """Until the processes have stored some more."""
    wanted = decided(client) + STEP
    assert wait_until(lambda: decided(client) >= wanted, within_s=PATIENCE_S)


def test_both_versions_write_while_one_migrates_and_after(tmp_path: Path) -> None:
    """All answers once, all sums equal; the earlier version starts on the newer database, too."""
    port, dsn = free_port(), ""
    with database(tmp_path / "db", port):
        dsn = dsn_of(port)
        with connect(dsn) as client:
            assert migrate(client, migrations=ALL[:KNOWN]) == [one.number for one in ALL[:KNOWN]]
            with earlier_version(dsn, KNOWN, 1) as first, earlier_version(dsn, KNOWN, 10**6) as old:
                wait_for_more(client)
                migrated = subprocess.run(
                    [sys.executable, "-m", "otel_rt4chart", "migrate"],
                    env={**os.environ, "RT4CHART_DSN": dsn},
                    check=False,
                    capture_output=True,
                    text=True,
                )
                wait_for_more(client)
                sent = first.stop()
                with (
                    earlier_version(dsn, len(ALL), 2 * 10**6) as updated,
                    earlier_version(dsn, KNOWN, 3 * 10**6) as rolled_back,
                ):
                    wait_for_more(client)
                    sent += old.stop() + updated.stop() + rolled_back.stop()
            failed, filled = client.query(FAILED).result_rows[0]
            while fill_next_day(client, time.time_ns()):
                pass
            exact, rollup = (client.query(one).result_rows for one in (EXACT, ROLLUP))
            found = client.query(ANSWERS).result_rows[0]
            claims, per_hour = (client.query(one).result_rows[0][0] for one in (CLAIMS, PER_HOUR))
            wrong = find_wrong_sums(client, time.time_ns() - 3600 * 10**9, time.time_ns())
            differences = schema_differences(client) + schema_differences(client, ALL[:KNOWN])
            again = migrate(client, migrations=ALL[:KNOWN])

    assert migrated.returncode == 0, migrated.stderr
    assert found == (sent, sent)
    assert (exact, wrong) == (rollup, [])
    assert (claims, per_hour) == (sum(row[2] for row in exact), sent)
    assert failed == filled > 0
    assert (differences, again) == ([], [])
    assert NEW > 0
