"""Connecting: what a wrong DSN, a locked path and an absent server say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import InputError, SettingsError, StoreBusyError, StoreError
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.dsn import parse_dsn

OWNER = """
import sys
from rt4chart_collector.store.engine.connect import connect
client = connect(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
"""
SERVING_OWNER = """
import sys
from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.store.engine.connect import connect
client = connect(sys.argv[1])
with serve_local_api(client.target):
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    "dsn",
    [
        "",
        "postgres://me:hunter2@host/db",
        "chdb://relative/path",
        "chdb:///",
        "chdb:/abs",
        "http://",
        "http://me:hunter2@host:port/db",
        "http://me:hunter2@host:8123/no-such;name",
        "me:hunter2@host",
    ],
)
def test_wrong_dsn_says_what_was_expected(dsn: str) -> None:
    """The variable and an example are named, a password is not."""
    with pytest.raises(SettingsError, match=r"RT4CHART_DSN: expected chdb:///") as raised:
        parse_dsn(dsn)

    assert "hunter2" not in str(raised.value)


def test_server_dsn_is_read_whole() -> None:
    """User, password, port and database come out of the DSN, escapes resolved."""
    target = parse_dsn("https://me:p%40ss@db.example:8443/rag")

    assert (target.username, target.password) == ("me", "p@ss")
    assert (target.scheme, target.host, target.port, target.database) == (
        "https",
        "db.example",
        8443,
        "rag",
    )
    assert target.display_name == "https://db.example:8443/rag"


def test_absent_server_is_a_store_error_without_its_password() -> None:
    """A server that does not answer is named by its address alone."""
    with pytest.raises(StoreError, match=r"no answer .*127\.0\.0\.1:9/otel") as raised:
        connect("http://me:hunter2@127.0.0.1:9/otel")

    assert "hunter2" not in str(raised.value)


def test_path_that_another_process_owns_is_busy(tmp_path: Path) -> None:
    """The message says which path, and what to do; afterwards the path can be opened."""
    dsn = f"chdb://{tmp_path / 'db'}"
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, dsn], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdin is not None
        assert owner.stdout.readline() == "ready\n"

        with pytest.raises(StoreBusyError, match=r"another process owns /.*/db; stop it, or point"):
            connect(dsn)

        owner.stdin.close()
    assert owner.returncode == 0


def test_stopped_owner_is_named_with_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it was stopped before a command connects or later; afterwards it goes on."""
    dsn = f"chdb://{tmp_path / 'db'}"
    monkeypatch.setattr("rt4chart_collector.store.engine.connect.ANSWER_SECONDS", 5)
    monkeypatch.setattr("rt4chart_collector.store.engine.connect.STATEMENT_SECONDS", 5)
    with subprocess.Popen(
        [sys.executable, "-c", SERVING_OWNER, dsn],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdin is not None
        assert owner.stdout.readline() == "ready\n"
        guest = connect(dsn)
        silent = rf"the service that owns /.*/db does not answer: process {owner.pid} .*kill -CONT"
        owner.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(StoreError, match=silent):
                connect(dsn)
            with pytest.raises(StoreError, match=silent):
                guest.query("SELECT 1")
        finally:
            owner.send_signal(signal.SIGCONT)

        assert guest.query("SELECT 1").result_rows == [(1,)]
        guest.close()
        owner.stdin.close()
    assert owner.returncode == 0


def test_second_path_in_one_process_is_a_store_error(client: Client, tmp_path: Path) -> None:
    """The engine takes one path a process, and says so."""
    with pytest.raises(StoreError, match="different path"):
        connect(f"chdb://{tmp_path / 'other'}")


def test_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    """A file in the way is named."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="cannot create"):
        connect(f"chdb://{tmp_path / 'file' / 'db'}")


def test_bad_statement_is_a_store_error(client: Client) -> None:
    """The database's own words come along."""
    with pytest.raises(StoreError, match="UNKNOWN_TABLE"):
        client.query("SELECT 1 FROM nowhere")


def test_value_that_does_not_fit_is_an_input_error(client: Client) -> None:
    """Trying again will not help, so it is not a StoreError."""
    client.command("CREATE TABLE small (N UInt8) ENGINE = Memory")

    with pytest.raises(InputError, match="does not fit"):
        client.insert("small", [["many"]], ["N"])


def test_siblings_share_the_database_from_other_threads(client: Client) -> None:
    """Each thread has a connection of its own and sees what the others wrote."""
    client.command("CREATE TABLE shared (N UInt32) ENGINE = MergeTree ORDER BY N")

    def write(number: int) -> None:
        with client.sibling() as own:
            own.insert("shared", [[number]], ["N"])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert client.query("SELECT sum(N), count() FROM shared").result_rows == [(6, 4)]


def test_disk_that_takes_no_insert_is_the_stores_error(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file by which the embedded engine takes rows cannot be made: the system's words stand."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))

    with pytest.raises(StoreError, match="No such file or directory"):
        client.insert("rt4chart_schema_migrations", [[99, "n", "c"]], ["Id", "Name", "Checksum"])


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count() FROM system.jemalloc_profile_text",
        "SELECT count() FROM merge('system', '^jemalloc_profile_text$')",
    ],
)
def test_no_query_writes_a_profile_of_the_heap(client: Client, query: str) -> None:
    """The engine's own table would write a file to /tmp each time that it is read."""
    with pytest.raises(StoreError):
        client.query(query)

    assert list(Path("/tmp").glob(f"jemalloc_clickhouse.{os.getpid()}.*")) == []
