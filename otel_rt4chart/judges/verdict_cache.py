"""A file cache of verdicts for repeated evaluations."""

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
_DELETE_OLDEST = """DELETE FROM verdicts WHERE rowid <= (SELECT max(rowid) FROM verdicts) - ?"""
# Short, because the caller may be an event loop: a lost cache entry is better than a long wait.
_BUSY_TIMEOUT_MS = 100
_WRITE_PAUSE_S = 5.0  # no writes for this long after a failed write


class FileCache:
    """A SQLite file of about `most` verdicts at most; threads and processes may share it.

    It holds labels, sentence numbers and quoted words of answers and passages. This is user data,
    so only the owner may read the file. If the file becomes unusable, `get` returns None. While
    another process locks it, verdicts are not cached, and `lost` counts them.
    """

    def __init__(
        self, path: str, most: int = 500_000, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open or create the file; SettingsError if that fails."""
        self._file = Path(path).expanduser()
        if not self._file.parent.is_dir():
            raise SettingsError(
                f"RT4CHART_JUDGE_CACHE: expected a file in a folder that exists, got {path}: "
                f"create the folder {self._file.parent} first"
            )
        try:
            self._file.touch(mode=0o600)
            self._connection = _open_database(self._file)
        except (OSError, sqlite3.Error) as error:
            raise SettingsError(
                f"RT4CHART_JUDGE_CACHE: expected a writable file, got {path}: {error}"
            ) from error
        self._most = most
        self._clock = clock
        self._resting_until = clock()
        self._written = 0
        self.lost = 0

    def get(self, key: str) -> str | None:
        """The cached text, or None."""
        try:
            connection = self._current()
            with connection.lock:
                cursor = connection.database.execute(
                    "SELECT value FROM verdicts WHERE key = ?", (key,)
                )
                row = cursor.fetchone()
        except (OSError, sqlite3.Error):
            return None
        return None if row is None else str(row[0])

    def put(self, key: str, value: str) -> None:
        """Cache the text; every thousandth write deletes the oldest entries beyond `most`."""
        if self._clock() < self._resting_until:
            self.lost += 1
            return
        try:
            connection = self._current()
            with connection.lock:
                connection.database.execute(
                    "INSERT OR REPLACE INTO verdicts VALUES (?, ?)", (key, value)
                )
                self._written += 1
                if self._written % 1000 == 0:
                    connection.database.execute(_DELETE_OLDEST, (self._most,))
        except (OSError, sqlite3.Error) as error:
            if not self.lost:
                LOG.warning("%s: some verdicts are not cached: %s", self._file, error)
            self.lost += 1
            self._resting_until = self._clock() + _WRITE_PAUSE_S

    def close(self) -> None:
        """Close the file."""
        with self._connection.lock:
            self._connection.database.close()

    def _current(self) -> _Connection:
        """The connection of this process: SQLite forbids using one on both sides of a fork."""
        if self._connection.pid != os.getpid():
            _PARENT_CONNECTIONS.append(self._connection)
            self._connection = _open_database(self._file)
        return self._connection


class _Connection(NamedTuple):
    """The connection of a process; `lock` admits one thread at a time."""

    pid: int
    database: sqlite3.Connection
    lock: Lock


_PARENT_CONNECTIONS: list[
    _Connection
] = []  # kept open in a child: closing them would release the parent's locks


def _open_database(file: Path) -> _Connection:
    """Open the file, readable only by its owner. SQLite's -wal and -shm files inherit the mode."""
    for name in ("", "-wal", "-shm"):
        companion = file.with_name(file.name + name)
        if companion.exists():
            companion.chmod(0o600)
    database = sqlite3.connect(file, timeout=5.0, check_same_thread=False, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute(_SCHEMA)
    database.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    return _Connection(os.getpid(), database, Lock())
