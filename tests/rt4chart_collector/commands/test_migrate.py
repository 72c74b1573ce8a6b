"""`rt4chart migrate` and `rt4chart export`: what they do to a database, and what they say."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate, shipped_migrations
from tests.clickhouse_server import PASSWORD, served
from tests.rt4chart_collector.records import verdict

Run = Callable[..., int]
ALL = shipped_migrations()


@pytest.fixture
def run(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command on the test's database."""
    for name in ("RT4CHART_CLUSTER", "RT4CHART_TTL_DAYS", "RT4CHART_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    return lambda *argv: main([*argv, "--dsn", dsn])


def test_migrate_says_what_it_did(
    client: Client,
    store_dsn: str,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """First what it would do, then that it did, then that there is nothing to do."""
    name = f"{client.database}_old"
    files = [f"{one.number:04} ({one.name})" for one in ALL]
    module = import_module("rt4chart_collector.store.engine.dsn")
    monkeypatch.setattr(module, "DEFAULT_DATABASE", name)
    monkeypatch.setenv("RT4CHART_SPANS_TTL_DAYS", "9")

    with connect(store_dsn, database=name) as old:
        migrate(old)
        # As if no step had been entered in the ledger.
        old.command("TRUNCATE TABLE rt4chart_schema_migrations")
        assert run("migrate", "--dry-run") == 0
        dry = capsys.readouterr().out
        assert run("migrate") == 0
        done = capsys.readouterr().out
        assert run("migrate") == 0
        old.command(f"DROP DATABASE {name}")

    missing = "".join(f"migration {file} is missing\n" for file in files)
    assert dry.startswith(f"{missing}3 tables change their retention\n")
    assert "MODIFY TTL toDate(Timestamp) + toIntervalDay(9);\n" in dry
    applied = "".join(f"applied {file}\n" for file in files)
    assert done == f"{applied}3 tables change their retention\n"
    assert capsys.readouterr().out == f"up to date: {len(ALL)} migrations\n"


def test_migrate_fails_on_a_table_that_was_changed(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a line for each difference."""
    client.command("ALTER TABLE rt4chart_claims ADD COLUMN Mine String")

    assert run("migrate") == 1

    assert capsys.readouterr().err == (
        "rt4chart_claims.Mine: no migration created this column\n"
        "1 difference from the migrations: see docs/deploy/database.md\n"
    )


def test_dry_run_makes_no_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is none it says so."""
    assert main(["migrate", "--dry-run", "--dsn", f"chdb://{tmp_path}/none"]) == 0

    assert capsys.readouterr().out.endswith(f"does not exist: {len(ALL)} migrations to apply\n")
    assert list(tmp_path.iterdir()) == []


def test_dry_run_makes_no_database_on_a_server(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is none it says so."""
    named = "SELECT count() FROM system.databases WHERE name = 'absent'"

    with served(client.target.path) as dsn:
        assert main(["migrate", "--dry-run", "--dsn", f"{dsn}absent"]) == 0

    told = capsys.readouterr().out
    assert told.endswith(f"/absent does not exist: {len(ALL)} migrations to apply\n")
    assert PASSWORD not in told
    assert client.query(named).result_rows == [(0,)]


def test_the_printed_script_is_what_migrate_applies(
    client: Client,
    store_dsn: str,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A database that an operator made with it needs nothing more."""
    name = f"{client.database}_by_hand"
    assert run("migrate", "--print", "single") == 0
    script = re.sub(rf"\b{client.database}\b", name, capsys.readouterr().out)

    with connect(store_dsn, database=name) as made:
        for statement in filter(str.strip, script.split(";\n")):
            made.command(statement)
        module = import_module("rt4chart_collector.store.engine.dsn")
        monkeypatch.setattr(module, "DEFAULT_DATABASE", name)
        assert run("migrate") == 0
        made.command(f"DROP DATABASE {name}")
    assert capsys.readouterr().out == f"up to date: {len(ALL)} migrations\n"


def test_the_cluster_s_script_names_it(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the servers' macro, unless its name is set."""
    assert main(["migrate", "--print", "cluster", "--dsn", "http://host/rag"]) == 0
    macro = capsys.readouterr().out
    monkeypatch.setenv("RT4CHART_CLUSTER", "prod")
    assert main(["migrate", "--print", "cluster", "--dsn", "http://host/rag"]) == 0

    assert macro.startswith("CREATE DATABASE IF NOT EXISTS rag ON CLUSTER '{cluster}';\n")
    assert capsys.readouterr().out == macro.replace("{cluster}", "prod")


def test_a_cluster_is_no_embedded_database(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting is named."""
    monkeypatch.setenv("RT4CHART_CLUSTER", "prod")

    assert run("migrate") == 2

    assert "RT4CHART_CLUSTER: expected RT4CHART_DSN to name a server" in capsys.readouterr().err


def test_export_names_its_files(
    client: Client, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each on a line; what is there is not overwritten, and nothing is said to be nothing."""
    insert_verdicts(client, [verdict(1, start_ns=time.time_ns() - 86_400 * 10**9)])
    long = ("--since", "2d", "--out", str(tmp_path), "--format", "jsonl")
    table = ("--table", "claims", "--table", "rates")

    assert run("export", *long, *table) == 0
    named = capsys.readouterr().out.splitlines()
    assert run("export", *long, *table) == 2
    refused = capsys.readouterr().err
    assert run("export", *long, *table, "--force", "--route", "none") == 0

    assert [Path(name).relative_to(tmp_path).parts[0] for name in named] == ["claims", "rates"]
    assert len(Path(named[0]).read_text().splitlines()) == 2
    assert "is not empty: expected a new folder" in refused
    assert capsys.readouterr().err == "no rows in that time\n"
