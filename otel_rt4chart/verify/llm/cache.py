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


class ScopedCache:
    """A part of a cache: what is kept under one scope is not found under another."""

    def __init__(self, cache: Cache, scope: str) -> None:
        """`scope` tells apart what has the same key, such as a model's name at two addresses."""
        self._cache = cache
        self._scope = scope

    def get(self, key: str) -> str | None:
        """The text, or None."""
        return self._cache.get(key_of(self._scope, key))

    def put(self, key: str, value: str) -> None:
        """Keep the text."""
        self._cache.put(key_of(self._scope, key), value)


def keep(cache: Cache, key: str, value: object) -> None:
    """Cache a JSON value, sealed: a hash over it and its key, then the JSON."""
    text = json.dumps(value)
    cache.put(key, f"{key_of(key, text)} {text}")


def stored(cache: Cache, key: str) -> object:
    """The cached value, or None where there is none, or another text than was kept."""
    seal, _, text = (cache.get(key) or "").partition(" ")
    return json.loads(text) if seal == key_of(key, text) else None
