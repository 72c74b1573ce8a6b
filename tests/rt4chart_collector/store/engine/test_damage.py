"""A data folder whose files are damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# The engine takes one folder a process.
FILL = """
import sys
from rt4chart_collector.store.engine.connect import connect
with connect(sys.argv[1]) as client:
    for name in ("cut", "whole"):
        client.command(f"CREATE TABLE {name} (N UInt64) ENGINE = MergeTree ORDER BY N")
        client.insert(name, [[number] for number in range(1000)], ["N"])
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
