"""Verdicts kept in a file between runs, for evaluations that are repeated."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from otel_rt4chart.core.errors import SettingsError

LOG = logging.getLogger("otel_rt4chart")
_SCHEMA = "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
_TRIM = """DELETE FROM verdicts WHERE rowid <= (SELECT max(rowid) FROM verdicts) - ?"""
# Another process may write a moment before us; whoever waits may be an event loop.
_WAIT_MS = 100
_PAUSE_S = 5.0  # how long nothing is written after a write that could not be


class FileCache:
    """A SQLite file of at most about `most` verdicts; threads and processes may share it.

    It holds labels, sentence numbers and quoted words of answers and passages: users' data, in a
    file that its owner alone may read. A file that cannot be used any more answers None; where
    another process has locked it, verdicts are lost to the cache for some seconds, and `lost`
    counts them.
    """

    def __init__(
        self, path: str, most: int = 500_000, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open or make the file; SettingsError where that cannot be done."""
        self._file = Path(path).expanduser()
        if not self._file.parent.is_dir():
            raise SettingsError(
                f"RT4CHART_JUDGE_CACHE: expected a file in a folder that exists, got {path}: "
                f"make the folder {self._file.parent} first"
            )
        try:
            self._file.touch(mode=0o600)
            self._opened = _opened(self._file)
        except (OSError, sqlite3.Error) as error:
            raise SettingsError(
                f"RT4CHART_JUDGE_CACHE: expected a file that can be written, {path}: {error}"
            ) from error
        self._most = most
        self._clock = clock
        self._resting_until = clock()
        self._written = 0
        self.lost = 0

    def get(self, key: str) -> str | None:
        """The text, or None."""
        try:
            here = self._here()
            with here.lock:
                found = here.database.execute("SELECT value FROM verdicts WHERE key = ?", (key,))
                row = found.fetchone()
        except (OSError, sqlite3.Error):
            return None
        return None if row is None else str(row[0])

    def put(self, key: str, value: str) -> None:
        """Keep the text; every thousandth time the oldest beyond `most` are let go."""
        if self._clock() < self._resting_until:
            self.lost += 1
            return
        try:
            here = self._here()
            with here.lock:
                here.database.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", (key, value))
                self._written += 1
                if self._written % 1000 == 0:
                    here.database.execute(_TRIM, (self._most,))
        except (OSError, sqlite3.Error) as error:
            if not self.lost:
                LOG.warning("%s: some verdicts are not kept: %s", self._file, error)
            self.lost += 1
            self._resting_until = self._clock() + _PAUSE_S

    def close(self) -> None:
        """Close the file."""
        with self._opened.lock:
            self._opened.database.close()

    def _here(self) -> _Opened:
        """This process's connection: SQLite's may not be used on both sides of a fork."""
        if self._opened.pid != os.getpid():
            _PARENTS.append(self._opened)
            self._opened = _opened(self._file)
        return self._opened


class _Opened(NamedTuple):
    """A process's connection, used by one thread at a time."""

    pid: int
    database: sqlite3.Connection
    lock: Lock


_PARENTS: list[_Opened] = []  # not closed by a child: their locks and journal are the parent's


def _opened(file: Path) -> _Opened:
    """The file, readable by its owner alone; its companions take their mode from it."""
    for name in ("", "-wal", "-shm"):
        companion = file.with_name(file.name + name)
        if companion.exists():
            companion.chmod(0o600)
    database = sqlite3.connect(file, timeout=5.0, check_same_thread=False, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute(_SCHEMA)
    database.execute(f"PRAGMA busy_timeout={_WAIT_MS}")
    return _Opened(os.getpid(), database, Lock())
