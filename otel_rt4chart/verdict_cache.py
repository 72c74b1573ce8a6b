"""Verdicts kept in a file between runs, for evaluations that are repeated."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Lock

from otel_rt4chart.errors import SettingsError

_SCHEMA = "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
_TRIM = """DELETE FROM verdicts WHERE rowid <= (SELECT max(rowid) FROM verdicts) - ?"""


class FileCache:
    """A SQLite file of at most about `most` verdicts; threads and processes may share it.

    It holds labels, sentence numbers and quoted words of answers and passages: users' data, in a
    file that its owner alone may read. A file that cannot be used any more answers None.
    """

    def __init__(self, path: str, most: int = 500_000) -> None:
        """Open or make the file; SettingsError where that cannot be done."""
        file = Path(path).expanduser()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            self._database = sqlite3.connect(
                file, timeout=5.0, check_same_thread=False, isolation_level=None
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise SettingsError(
                f"RT4CHART_JUDGE_CACHE: expected a file that can be written, {path}: {error}"
            ) from error
        self._lock = Lock()
        self._most = most
        self._written = 0

    def get(self, key: str) -> str | None:
        """The text, or None."""
        try:
            with self._lock:
                found = self._database.execute("SELECT value FROM verdicts WHERE key = ?", (key,))
                row = found.fetchone()
        except sqlite3.Error:
            return None
        return None if row is None else str(row[0])

    def put(self, key: str, value: str) -> None:
        """Keep the text; every thousandth time the oldest beyond `most` are let go."""
        try:
            with self._lock:
                self._database.execute(
                    "INSERT OR REPLACE INTO verdicts VALUES (?, ?)", (key, value)
                )
                self._written += 1
                if self._written % 1000 == 0:
                    self._database.execute(_TRIM, (self._most,))
        except sqlite3.Error:
            return

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()
