"""A data folder whose files are damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rt4chart_collector.store.engine.damage import checked_parts

# The engine takes one folder a process.
FILL = """
import sys
from rt4chart_collector.store.engine.connect import connect
with connect(sys.argv[1]) as client:
    for name in ("cut", "whole"):
        client.command(f"CREATE TABLE {name} (N UInt64) ENGINE = MergeTree ORDER BY N")
        client.insert(name, [[number] for number in range(1000)], ["N"])
"""
FILL_TWICE = """
import sys
from rt4chart_collector.store.engine.connect import connect
with connect(sys.argv[1]) as client:
    client.command("CREATE TABLE cut (N UInt64) ENGINE = MergeTree ORDER BY N")
    client.command("SYSTEM STOP MERGES cut")
    for start in (0, 1000):
        client.insert("cut", [[start + number] for number in range(1000)], ["N"])
"""
SELECT = """
import sys
from otel_rt4chart.core.errors import StoreDamagedError
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.engine.engine_errors import seen_damage
with connect(sys.argv[1]) as client:
    before = seen_damage(client.target.display_name)
    try:
        client.query("SELECT sum(N) FROM cut")
    except StoreDamagedError as error:
        print(error.detail)
        print(redacted_error(error).split(" < ")[0])
        print(before, seen_damage(client.target.display_name), seen_damage("another"))
"""
READ = """
import sys
from rt4chart_collector.service.checks import check_database
found = check_database(sys.argv[1], "db")
print(found.state, found.detail)
"""


def run(script: str, dsn: str) -> str:
    """What the script prints last."""
    done = subprocess.run(
        [sys.executable, "-c", script, dsn], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def parts_of(folder: Path, table: str) -> list[Path]:
    """The data files of a table."""
    (path,) = folder.glob(f"store/*/*/{table}.sql")
    uuid = path.read_text().split("UUID '")[1].split("'")[0]
    return list(folder.glob(f"store/{uuid[:3]}/{uuid}/*/data.bin"))


def test_damaged_part_fails_the_check_of_the_database(tmp_path: Path) -> None:
    """The engine starts without the rows and says nothing."""
    folder, dsn = tmp_path / "db", f"chdb://{tmp_path / 'db'}"
    run(FILL, dsn)
    assert run(READ, dsn).startswith("ok ")

    (file,) = parts_of(folder, "cut")
    os.truncate(file, file.stat().st_size // 2)

    assert run(READ, dsn) == "failed damaged parts in db: cut (1)"


def flip(file: Path) -> None:
    """Change bytes in the middle of a file, whose length stays."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x55
    file.write_bytes(content)


def test_part_with_changed_bytes_is_named_with_what_to_do(tmp_path: Path) -> None:
    """The engine opens it, and fails where it is read: the code is for the log."""
    folder, dsn = tmp_path / "db", f"chdb://{tmp_path / 'db'}"
    run(FILL, dsn)
    (file,) = parts_of(folder, "cut")
    flip(file)

    detail, logged, seen = run(SELECT, dsn).splitlines()

    assert detail.startswith("part all_1_1_0 of table cut is damaged (CHECKSUM_DOESNT_MATCH): ")
    assert "restore the database from a backup" in detail
    assert "`rt4chart repair --detach`" in detail
    assert logged == "StoreDamagedError (CHECKSUM_DOESNT_MATCH)"
    assert seen == "{} {'cut': 1} {}"
    assert run(READ, dsn) == "failed damaged parts in db that are in use: cut (1)"


def test_repair_sets_a_damaged_part_aside_only_if_asked(tmp_path: Path) -> None:
    """It says which rows are missing then; the files stay."""
    folder, dsn = tmp_path / "db", f"chdb://{tmp_path / 'db'}"
    run(FILL, dsn)
    (file,) = parts_of(folder, "cut")
    flip(file)
    line = "cut: part all_1_1_0 is damaged (CHECKSUM_DOESNT_MATCH), with 1,000 rows"

    listed = repair(dsn)
    assert (listed.returncode, listed.stdout.startswith(line)) == (1, True)
    assert "nothing was changed: restore the database from a backup" in listed.stdout
    done = repair(dsn, "--detach")
    assert (done.returncode, done.stdout.startswith(f"detached {line}")) == (0, True)
    again = repair(dsn)
    assert (again.returncode, again.stdout) == (0, "no part is damaged\n")
    assert (file.parent.parent / "detached" / "all_1_1_0" / "data.bin").exists()
    assert run(READ, dsn).startswith("ok ")


def test_damaged_part_beside_whole_ones_is_found(tmp_path: Path) -> None:
    """As in every table that rows were written to more than once."""
    folder, dsn = tmp_path / "db", f"chdb://{tmp_path / 'db'}"
    run(FILL_TWICE, dsn)
    first, _ = sorted(parts_of(folder, "cut"))
    flip(first)

    listed = repair(dsn)

    assert listed.returncode == 1
    assert listed.stdout.startswith("cut: part all_1_1_0 is damaged (CHECKSUM_DOESNT_MATCH), with")
    assert repair(dsn, "--detach").returncode == 0
    assert repair(dsn).stdout == "no part is damaged\n"


@pytest.mark.parametrize(
    "rows",
    [
        [["a", 0, "Code 40"], ["b", 1, ""]],
        [["a", "0", "Code 40\nb", "1", ""]],
    ],
    ids=["rows", "one row"],
)
def test_reply_about_parts_is_read_in_both_shapes(rows: list[list[object]]) -> None:
    """The embedded client may cut it at tabs alone."""
    assert list(checked_parts(rows)) == [("a", "0", "Code 40"), ("b", "1", "")]
    assert list(checked_parts([[1]])) == []


def repair(dsn: str, *options: str) -> subprocess.CompletedProcess[str]:
    """`rt4chart repair` on this database."""
    command = [sys.executable, "-m", "otel_rt4chart", "repair", "--dsn", dsn, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_folder_that_cannot_be_opened_is_named_with_what_to_do(tmp_path: Path) -> None:
    """A table whose definition is empty stops the engine."""
    folder, dsn = tmp_path / "db", f"chdb://{tmp_path / 'db'}"
    run(FILL, dsn)
    (definition,) = folder.glob("store/*/*/cut.sql")
    os.truncate(definition, 0)

    state, last = run(READ, dsn).split(" ", 1)[0], run(READ, dsn).splitlines()[-1]

    assert state == "failed"
    assert last == (
        f"the database in {folder} cannot be opened; if its files are damaged, restore a backup "
        "(docs/deploy/layouts.md), or name another folder in RT4CHART_DSN"
    )
