"""The commands beside a running service: they read and write through it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.service import service

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
FILL = """
import sys
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store import connect, insert_verdicts, migrate
from tests.rt4chart_collector.records import verdict
with connect(sys.argv[1]) as client:
    migrate(client)
    insert_verdicts(client, [verdict(number, [Label.CONTRADICTED]) for number in range(1, 9)])
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, without settings from outside."""
    environ = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ | {"PYTHONPATH": str(ROOT)},
    )


def rt4chart(*words: str) -> subprocess.CompletedProcess[str]:
    """One of the commands."""
    return run("-m", "otel_rt4chart", *words)


def test_commands_work_beside_a_running_service(tmp_path: Path) -> None:
    """Failures are grouped and issues listed while the service owns the database, and stay."""
    dsn = f"chdb://{tmp_path / 'db'}"
    assert run("-c", FILL, dsn).returncode == 0
    with service(dsn) as running:
        grouped = rt4chart("cluster", "--dsn", dsn, "--json")
        listed = rt4chart("issues", "--dsn", dsn, "--json")
        assert (grouped.returncode, grouped.stderr) == (0, "")
        assert json.loads(grouped.stdout)["failures"] == 8
        (issue,) = json.loads(listed.stdout)
        shown = rt4chart("issues", issue["id"], "--dsn", dsn)
        assert running.stop() == 0

    assert (issue["claims"], issue["state"]) == (8, "new")
    assert "The trial lasts 14 days." in shown.stdout
    assert json.loads(rt4chart("issues", "--dsn", dsn, "--json").stdout) == [issue]
    assert not (tmp_path / "db/access-address").exists()


def test_service_that_lets_nobody_in_is_named(tmp_path: Path) -> None:
    """With the access off, the command says who owns the database and what to change."""
    dsn = f"chdb://{tmp_path / 'db'}"
    with service(dsn, "--access", "") as running:
        refused = rt4chart("issues", "--dsn", dsn)
        assert running.stop() == 0

    assert refused.returncode != 0
    assert f"another process owns {tmp_path / 'db'}" in refused.stderr
    assert "RT4CHART_ACCESS" in refused.stderr
