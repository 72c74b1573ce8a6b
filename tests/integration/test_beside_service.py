"""Commands beside a running service, which read and write through it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.store.engine.connect import connect
from tests.integration.service import PATIENCE_S, service
from tests.polling import wait_until

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
# It sleeps a second a block of rows, for ever: it takes no CPU from the service.
SLOW = "SELECT count() FROM numbers({}) WHERE sleepEachRow(0.00002) = 1"
RUNNING = "SELECT count() FROM system.processes WHERE query LIKE '%numbers({})%'"
FILL = """
import sys
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.cli import main
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate
from tests.rt4chart_collector.records import verdict
with connect(sys.argv[1]) as client:
    migrate(client)
    insert_verdicts(client, [verdict(number, [Label.CONTRADICTED]) for number in range(1, 9)])
"""
OWN = """
import sys
from otel_rt4chart.cli import main
from rt4chart_collector.store.engine.connect import connect
with connect(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, without settings from outside."""
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=ROOT, env=environ()
    )


def environ() -> dict[str, str]:
    """The environment of a process that has no settings of ours."""
    kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    return kept | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def rt4chart(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process: status, stdout and stderr."""

    def called(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capsys.readouterr()

    return called


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a database with eight failures, made once."""
    folder: Path = tmp_path_factory.mktemp("filled") / "db"
    done = run("-c", FILL, f"chdb://{folder}")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def dsn(tmp_path: Path, filled: Path) -> str:
    """A copy of that database; the engine's links are relative."""
    return f"chdb://{shutil.copytree(filled, tmp_path / 'db', symlinks=True)}"


@contextmanager
def querying(dsn: str, rows: int) -> Iterator[subprocess.Popen[str]]:
    """`rt4chart sql` as a process with a query that does not end, once it runs."""
    command = [sys.executable, "-m", "otel_rt4chart", "sql", SLOW.format(rows), "--dsn", dsn]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environ(),
        stderr=-1,
        text=True,
        # A shell that starts the tests in the background makes them, and their children, ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            with connect(dsn) as client:
                # The statement that counts names the query too.
                wait_until(lambda: client.query(RUNNING.format(rows)).result_rows == [(2,)])
            yield process
        finally:
            process.kill()


def test_commands_work_beside_a_running_service(
    tmp_path: Path, dsn: str, rt4chart: Callable[..., tuple[int, str, str]]
) -> None:
    """Failures are grouped and issues listed while the service owns the database, and stay."""
    with service(dsn) as running:
        status, grouped, errors = rt4chart("cluster", "--dsn", dsn, "--json")
        assert (status, errors) == (0, "")
        assert json.loads(grouped)["failures"] == 8
        (issue,) = json.loads(rt4chart("issues", "--dsn", dsn, "--json")[1])
        _, shown, _ = rt4chart("issues", issue["id"], "--dsn", dsn)
        renamed, _, _ = rt4chart("issues", "rename", issue["id"], "Trial length", "--dsn", dsn)
        migrated, migrations, _ = rt4chart("migrate", "--dry-run", "--dsn", dsn)
        assert running.stop() == 0

    assert (issue["claims"], issue["state"]) == (8, "new")
    assert "The trial lasts 14 days." in shown
    assert (renamed, migrated) == (0, 0)
    assert migrations.startswith("up to date")
    alone = run("-m", "otel_rt4chart", "issues", "--dsn", dsn, "--json")
    (stored,) = json.loads(alone.stdout)
    assert stored == issue | {"title": "Trial length"}
    assert not (tmp_path / "db/local-api").exists()


def test_sql_reads_beside_a_service_and_without_one(
    dsn: str,
    rt4chart: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same rows; the query may come from standard input."""
    query = "SELECT Label, count() AS n FROM rt4chart_claims FINAL GROUP BY Label"
    alone = run("-m", "otel_rt4chart", "sql", query, "--format", "jsonl", "--dsn", dsn)
    with service(dsn) as running:
        monkeypatch.setattr("sys.stdin", io.StringIO(query))
        beside = rt4chart("sql", "-", "--format", "jsonl", "--dsn", dsn)
        refused, output, _ = rt4chart("sql", "DROP TABLE rt4chart_claims", "--dsn", dsn)
        assert running.stop() == 0

    assert json.loads(alone.stdout) == {"Label": "contradicted", "n": 8}
    assert beside == (0, alone.stdout, "")
    assert (refused, output) == (2, "")


def test_a_command_ends_when_it_is_interrupted_and_when_its_service_stops(
    dsn: str, rt4chart: Callable[..., tuple[int, str, str]]
) -> None:
    """Ctrl-C ends it at once though its statement still runs in the service, which goes on.

    The statement does not hold up the service's end, which ends the command with an error.
    """
    with service(dsn) as running:
        with querying(dsn, 10**12) as interrupted:
            interrupted.send_signal(signal.SIGINT)
            assert interrupted.wait(PATIENCE_S) == 130
        assert rt4chart("sql", "SELECT 1", "--format", "csv", "--dsn", dsn)[1] == '"1"\n1\n'
        with querying(dsn, 10**13) as process:
            assert running.stop() == 0
            _, errors = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 2
    assert errors.startswith(f"rt4chart sql: {dsn}: ")


def test_process_that_is_no_service_is_named(tmp_path: Path) -> None:
    """Where another process holds the database, the command says so and what to do."""
    dsn = f"chdb://{tmp_path / 'db'}"
    command = [sys.executable, "-c", OWN, dsn]
    with subprocess.Popen(
        command, cwd=ROOT, env=environ(), stdin=-1, stdout=-1, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        refused = run("-m", "otel_rt4chart", "issues", "--dsn", dsn)
        holder.communicate()

    assert refused.returncode == 2
    assert f"another process owns {tmp_path / 'db'}" in refused.stderr
    assert "RT4CHART_DSN" in refused.stderr
