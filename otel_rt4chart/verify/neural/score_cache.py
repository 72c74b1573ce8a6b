"""What was computed, kept for whoever asks for the same again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """A bounded memory that forgets what was asked for least recently; threads may share it.

    It has no lock, which a fork could find held: each step is one operation of a dict.
    """

    def __init__(self, most: int) -> None:
        """At most so many are kept."""
        self._most = most
        self._values: dict[K, V] = {}

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._values)

    def get(self, key: K) -> V | None:
        """What was kept for the key, if it is still known."""
        value = self._values.pop(key, None)
        if value is not None:
            self._values[key] = value
        return value

    def put(self, key: K, value: V) -> V:
        """Keep a value and give it back; where there are too many, the oldest eighth goes."""
        if len(self._values) >= self._most:
            for old in list(self._values)[: max(1, self._most // 8)]:
                self._values.pop(old, None)
        self._values[key] = value
        return value
