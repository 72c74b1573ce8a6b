"""The disk fills up under load, and has room again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.faults.load import Load, assert_all_is_there_once
from tests.integration.needs import MINUTES
from tests.integration.service import ANY_PORTS, command, service

pytestmark = [pytest.mark.e2e, MINUTES]
FLAGS = ("--judge", "rules", "--trace-quiet-s", "0.1")
SIZE_MIB = 96


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that is soon full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m", "rt4chart-test", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs the right to mount a tmpfs: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_disk_refuses_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    """No byte is left: 503 and no acknowledgement; then all that was acknowledged is there."""
    ballast, load = small_disk / "ballast", Load(pause_s=0.02)
    with service(f"chdb://{small_disk / 'db'}", *FLAGS) as running:
        load.url = running.url
        with load.running():
            load.wait_for(20)
            fill(ballast)
            load.wait_until(lambda: load.replies[503] >= 10)
            before = len(load.acknowledged)
            load.wait_until(lambda: load.replies[503] >= 30)
            taken_while_full = len(load.acknowledged) - before
            status = running.status()
            ballast.unlink()
            load.wait_for(20, within_s=120)
        running.wait_until(lambda status: bool(status["idle"]))
        code = running.stop()

    figures = assert_all_is_there_once(small_disk / "db", load)
    print({"taken while full": taken_while_full, "failures": status["failures"], **figures})  # noqa: T201
    assert code == 0
    assert load.replies[0] == 0


def test_start_on_a_full_disk_is_one_line(small_disk: Path) -> None:
    """It says what is full and what to do, and leaves a database that opens later."""
    database, ballast = small_disk / "db", small_disk / "ballast"
    fill(ballast)
    flags = ("--dsn", f"chdb://{database}", *ANY_PORTS, *FLAGS)

    full = subprocess.run(command(*flags), capture_output=True, text=True, timeout=60, check=False)
    ballast.unlink()
    with service(f"chdb://{database}", *FLAGS) as running:
        code = running.stop()

    assert (full.returncode, full.stdout, code) == (2, "", 0)
    assert full.stderr == (
        "rt4chart up: RT4CHART_DSN: expected at least 32 MiB free on the file system of "
        f"{database}, got 0.0 MiB; free some space (`df -h {database}` shows it), or name a "
        "folder on another file system\n"
    )


def fill(path: Path) -> None:
    """Write until there is no room."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 2**16)
        except OSError:
            return
