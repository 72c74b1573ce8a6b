"""Verdicts that need no second call: by the hash of everything that a verdict depends on."""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import sha256
from typing import Protocol


class Cache(Protocol):
    """Text by key; shared by threads. A failing cache answers None and never raises."""

    def get(self, key: str) -> str | None:
        """The text, or None."""

    def put(self, key: str, value: str) -> None:
        """Keep the text; the cache decides for how long."""


def key_of(*parts: object) -> str:
    """A hash over the parts, each kept apart from the next."""
    text = json.dumps(parts, ensure_ascii=True, default=str)
    return sha256(text.encode()).hexdigest()


class MemoryCache:
    """The last `most` entries of this process; a value over 64 KiB is not kept.

    Single dictionary operations are atomic, and losing a race costs a call, not a verdict.
    """

    def __init__(self, most: int = 20_000) -> None:
        """`most` entries of some 100 bytes each."""
        self._most = most
        self._kept: OrderedDict[str, str] = OrderedDict()

    def get(self, key: str) -> str | None:
        """The text, or None."""
        return self._kept.get(key)

    def put(self, key: str, value: str) -> None:
        """Keep the text and let the oldest go."""
        if len(value) > 65_536:
            return
        self._kept[key] = value
        while len(self._kept) > self._most:
            try:
                self._kept.popitem(last=False)
            except KeyError:
                return


def stored(cache: Cache, key: str) -> object:
    """The cached value, or None where there is none or it is damaged."""
    text = cache.get(key)
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return None
