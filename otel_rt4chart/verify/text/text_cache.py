"""A cache of what was read from texts, bounded by the length of the texts."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class TextCache(Generic[Key, Value]):
    """Keeps the values of recent texts, of at most `characters` together.

    A number of entries alone would not bound the memory: what is read from a text takes about a
    hundred times its length. Threads may share it without a lock: two that read the same text at
    once both do the work, and each of them gets a right value.
    """

    def __init__(
        self, read: Callable[[Key], Value], length: Callable[[Key], int], *, characters: int
    ) -> None:
        """`read` makes the value of a key, `length` says how many characters it has."""
        self._read = read
        self._length = length
        self._half = characters // 2
        # Two generations, so that the least recent half goes at once.
        self._recent: dict[Key, Value] = {}
        self._older: dict[Key, Value] = {}
        self._size = 0

    def __call__(self, key: Key) -> Value:
        """The value of the key, read now or before."""
        value = self._recent.get(key)
        if value is not None:
            return value
        value = self._older.get(key)
        if value is None:
            value = self._read(key)
        size = self._length(key)
        if self._size + size > self._half:
            self._older, self._recent, self._size = self._recent, {}, 0
        if size <= self._half:
            self._recent[key] = value
            self._size += size
        return value

    def clear(self) -> None:
        """Forget all values."""
        self._recent, self._older, self._size = {}, {}, 0
