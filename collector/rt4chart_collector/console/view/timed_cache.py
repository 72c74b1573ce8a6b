"""A small cache of values that are expensive to read and may be a little old."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

# What takes long to read stays for so many times as long: reading it takes a tenth of the time.
LONGER = 10

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class TimedCache(Generic[_Key, _Value]):
    """Values by key, each for a time; beyond a number of keys the oldest is dropped.

    Pages run in several threads. Two that miss at the same time both read the value: waiting for
    each other would let one slow page block all.
    """

    def __init__(self, *, most: int, fresh_ns: int) -> None:
        """Keep at most `most` values, each for `fresh_ns` or longer if it took long to read."""
        self._most = most
        self._fresh_ns = fresh_ns
        self._lock = threading.Lock()
        self._values: dict[_Key, tuple[int, _Value]] = {}  # with the time until which it is fresh

    def get(self, key: _Key, now_ns: int) -> _Value | None:
        """The value, None if there is none or it is too old."""
        with self._lock:
            until_ns, value = self._values.get(key, (0, None))
        return value if now_ns < until_ns else None

    def put(self, key: _Key, value: _Value, now_ns: int, *, took_ns: int = 0) -> None:
        """Add or replace a value, which took so long to read."""
        with self._lock:
            self._values.pop(key, None)
            while len(self._values) >= self._most:
                del self._values[next(iter(self._values))]
            self._values[key] = (now_ns + max(self._fresh_ns, LONGER * took_ns), value)
