"""Failures become issues inside a running service, without a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate
from tests.integration.needs import MINUTES
from tests.integration.service import service
from tests.polling import wait_until
from tests.rt4chart_clustering.made import numbers, verdict

pytestmark = [pytest.mark.e2e, MINUTES]
ROOT = Path(__file__).parents[2]
# The first run is a minute after the start.
PATIENCE_S = 240


def fill(dsn: str) -> None:
    """Store eight failures of one kind, as a process that ends: the engine takes one at a time."""
    with connect(dsn) as client:
        migrate(client)
        insert_verdicts(
            client, [verdict(replace(one, time_ns=time.time_ns())) for one in numbers(8)]
        )


def issues(dsn: str, *words: str) -> Any:  # noqa: ANN401 - whatever JSON the command prints
    """What `rt4chart issues` prints beside the service."""
    kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    command = [sys.executable, "-m", "otel_rt4chart", "issues", *words, "--dsn", dsn, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=kept)
    return json.loads(done.stdout)


def has_ended(status: Mapping[str, Any]) -> bool:
    """True once a run has ended, whatever came of it."""
    grouping = status["grouping"]
    return bool(grouping["completed"] or grouping["failed"])


def test_service_groups_by_itself_and_its_end_is_clean(tmp_path: Path) -> None:
    """A run is started, recorded and counted; the issue is there, and the service stops with 0."""
    dsn = f"chdb://{tmp_path / 'db'}"
    code = "import sys; from tests.integration.test_grouping import fill; fill(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, dsn], check=True, cwd=ROOT)

    with service(dsn, "--grouping", "60") as running:
        found = wait_until(running.status, has_ended, within_s=PATIENCE_S)["grouping"]
        (issue,) = issues(dsn, "list")
        (run,) = issues(dsn, "runs")["runs"]
        metrics = running.get("/metrics").text
        status = running.stop()

    assert found == {"running": False, "completed": 1, "failed": 0, "busy": 0}
    assert (issue["claims"], issue["state"]) == (8, "new")
    assert (run["cause"], run["new"], run["grouped"], run["error"]) == ("interval", 1, 8, "")
    assert 'rt4chart_grouping_runs_total{result="completed"} 1.0' in metrics
    assert status == 0
