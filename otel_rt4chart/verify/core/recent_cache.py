"""A bounded cache of computed values that threads and forked processes may share."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentCache(Generic[K, V]):
    """A cache that drops the least recently used values; threads may share it.

    It has no lock, which a forked process could inherit locked: each step is one atomic operation
    of a dict. A lost race costs a computation, never a wrong value.
    """

    def __init__(self, max_entries: int) -> None:
        """An empty cache."""
        self._max_entries = max_entries
        self._values: dict[K, V] = {}

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._values)

    def get(self, key: K) -> V | None:
        """The value of the key; None where it was never stored, or was dropped."""
        value = self._values.pop(key, None)
        if value is not None:
            self._values[key] = value
        return value

    def put(self, key: K, value: V) -> V:
        """Store a value and return it; a full cache first drops its oldest eighth."""
        if len(self._values) >= self._max_entries:
            # An eighth at once: a full cache does not copy its keys for every new value.
            for old in list(self._values)[: max(1, self._max_entries // 8)]:
                self._values.pop(old, None)
        self._values[key] = value
        return value
