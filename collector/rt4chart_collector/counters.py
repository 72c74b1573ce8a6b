"""What the service counts, from all its threads."""

from __future__ import annotations

import threading
from collections import Counter


class Counters:
    """Named counts that only grow; any thread may add."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def add(self, name: str, number: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[name] += number

    def under(self, prefix: str) -> dict[str, int]:
        """The counts whose names begin with `prefix.`, without it, by name."""
        with self._lock:
            found = [(name, number) for name, number in self._counts.items() if number]
        start = f"{prefix}."
        return {
            name.removeprefix(start): number
            for name, number in sorted(found)
            if name.startswith(start)
        }

    def __getitem__(self, name: str) -> int:
        """How often it has happened."""
        with self._lock:
            return self._counts[name]
