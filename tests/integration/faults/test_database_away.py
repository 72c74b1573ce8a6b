"""The database goes away under load, and comes back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rt4chart_collector.demo.processes import free_port
from rt4chart_collector.store.engine.connect import connect
from tests.clickhouse_server import database, dsn_of
from tests.integration.faults.load import EXACT, ROLLUP, Load, assert_all_is_there_once
from tests.integration.needs import IS_WHOLE, SHORT
from tests.integration.service import service
from tests.polling import wait_until

pytestmark = [pytest.mark.e2e, SHORT]
FLAGS = ("--judge", "rules", "--trace-quiet-s", "0.1", "--trace-orphan-s", "1")
AWAY_S = 60 if IS_WHOLE else 5


def test_database_that_is_killed_for_a_minute_costs_nothing(tmp_path: Path) -> None:
    """Clients are told to send again, the service stays up, and after the minute all goes on."""
    folder, port, load = tmp_path / "db", free_port(), Load()
    with (
        database(folder, port) as first,
        service(dsn_of(port), *FLAGS, environ={"RT4CHART_MONITOR": "1"}) as running,
    ):
        load.url = running.url
        with load.running():
            load.wait_for(20)
            first.kill()
            first.wait()
            began = time.monotonic()
            while time.monotonic() < began + AWAY_S:
                assert "spans_stored" in running.status()
                time.sleep(1)
            refused = load.replies[503]
            with database(folder, port):
                load.wait_for(20, within_s=120)
                load.finish()
                running.wait_until(lambda status: bool(status["idle"]))
                # Of a verdict that was being written, the sums may lack it: the monitor sees that.
                with connect(dsn_of(port)) as client:
                    wait_until(
                        lambda: [client.query(one).result_rows for one in (ROLLUP, EXACT)],
                        lambda sums: sums[0] == sums[1],
                    )
                told = running.status()
                code = running.stop()

    figures = assert_all_is_there_once(folder, load)
    print({"refused in the minute": refused, "failures": told["failures"], **figures})  # noqa: T201
    assert code == 0
    assert refused > 0
    assert load.replies[0] == 0
