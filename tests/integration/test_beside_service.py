"""Commands beside a running service: processes of their own that read and write through it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rt4chart_collector.store.engine.connect import Client, connect
from tests.integration.service import PATIENCE_S, service

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
SLOW = "SELECT count() FROM numbers(1000000000000) WHERE rand() = number"
RUNNING = "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1000000000000)%'"
FILL = """
import sys
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store import connect, insert_verdicts, migrate
from tests.rt4chart_collector.records import verdict
with connect(sys.argv[1]) as client:
    migrate(client)
    insert_verdicts(client, [verdict(number, [Label.CONTRADICTED]) for number in range(1, 9)])
"""
OWN = """
import sys
from rt4chart_collector.store import connect
with connect(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


def environ() -> dict[str, str]:
    """Without settings from outside."""
    kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    return kept | {"PYTHONPATH": str(ROOT)}


def run(*command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A process of its own."""
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ(),
        input=stdin,
    )


def rt4chart(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """One of the commands."""
    return run("-m", "otel_rt4chart", *words, stdin=stdin)


@contextmanager
def querying(dsn: str) -> Iterator[subprocess.Popen[str]]:
    """`rt4chart sql` with a query without end, once it runs."""
    command = [sys.executable, "-m", "otel_rt4chart", "sql", SLOW, "--dsn", dsn]
    with subprocess.Popen(command, cwd=ROOT, env=environ(), stderr=-1, text=True) as process:
        try:
            with connect(dsn) as client:
                until_there(client, 2)
            yield process
        finally:
            process.kill()


def until_there(client: Client, count: int) -> None:
    """Wait until so many statements name the query, this one too, for a bounded time."""
    until = time.monotonic() + PATIENCE_S
    while client.query(RUNNING).result_rows != [(count,)]:
        assert time.monotonic() < until


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
        renamed = rt4chart("issues", "rename", issue["id"], "Trial length", "--dsn", dsn)
        migrated = rt4chart("migrate", "--dry-run", "--dsn", dsn)
        assert running.stop() == 0

    assert (issue["claims"], issue["state"]) == (8, "new")
    assert "The trial lasts 14 days." in shown.stdout
    assert (renamed.returncode, migrated.returncode) == (0, 0)
    assert migrated.stdout.startswith("up to date")
    (stored,) = json.loads(rt4chart("issues", "--dsn", dsn, "--json").stdout)
    assert stored == issue | {"title": "Trial length"}
    assert not (tmp_path / "db/local-api").exists()


def test_sql_reads_beside_a_service_and_without_one(tmp_path: Path) -> None:
    """The same rows; the query may come from standard input."""
    dsn = f"chdb://{tmp_path / 'db'}"
    query = "SELECT Label, count() AS n FROM rt4chart_claims FINAL GROUP BY Label"
    assert run("-c", FILL, dsn).returncode == 0
    alone = rt4chart("sql", query, "--format", "jsonl", "--dsn", dsn)
    with service(dsn) as running:
        beside = rt4chart("sql", "-", "--format", "jsonl", "--dsn", dsn, stdin=query)
        refused = rt4chart("sql", "DROP TABLE rt4chart_claims", "--dsn", dsn)
        assert running.stop() == 0

    assert json.loads(alone.stdout) == {"Label": "contradicted", "n": 8}
    assert (beside.stdout, beside.stderr) == (alone.stdout, "")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_interrupted_command_ends_at_once(tmp_path: Path) -> None:
    """Ctrl-C reaches it though its statement still runs in the service, which goes on."""
    dsn = f"chdb://{tmp_path / 'db'}"
    with service(dsn) as running:
        with querying(dsn) as process:
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 130
        assert rt4chart("sql", "SELECT 1", "--format", "csv", "--dsn", dsn).stdout == '"1"\n1\n'
        assert running.stop() == 0


def test_service_that_stops_ends_a_command_with_an_error(tmp_path: Path) -> None:
    """Its statement does not hold up the service's end."""
    dsn = f"chdb://{tmp_path / 'db'}"
    with service(dsn) as running, querying(dsn) as process:
        assert running.stop() == 0
        _, said = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 2
    assert said.startswith(f"rt4chart sql: {dsn}: ")


def test_process_that_is_no_service_is_named(tmp_path: Path) -> None:
    """Where another process holds the database, the command says so and what to do."""
    dsn = f"chdb://{tmp_path / 'db'}"
    command = [sys.executable, "-c", OWN, dsn]
    with subprocess.Popen(
        command, cwd=ROOT, env=environ(), stdin=-1, stdout=-1, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        refused = rt4chart("issues", "--dsn", dsn)
        holder.communicate()

    assert refused.returncode == 2
    assert f"another process owns {tmp_path / 'db'}" in refused.stderr
    assert "RT4CHART_DSN" in refused.stderr
