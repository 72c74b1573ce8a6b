"""The cache of model replies, by a hash of everything that a reply depends on."""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import sha256
from typing import Protocol


class Cache(Protocol):
    """Texts by key; threads share it. A cache that fails returns None and never raises."""

    def get(self, key: str) -> str | None:
        """The text, or None."""

    def put(self, key: str, value: str) -> None:
        """Store the text; the cache decides for how long."""


def key_of(*parts: object) -> str:
    """A hash over the parts; JSON keeps them apart, so no two lists of parts collide."""
    text = json.dumps(parts, ensure_ascii=True, default=str)
    return sha256(text.encode()).hexdigest()


class MemoryCache:
    """The last `most` entries of this process; values over 64 KiB are not stored.

    Single operations of a dict are atomic, and a lost race costs a call, not a verdict.
    """

    def __init__(self, most: int = 20_000) -> None:
        """`most` entries of some 100 bytes each."""
        self._most = most
        self._kept: OrderedDict[str, str] = OrderedDict()

    def get(self, key: str) -> str | None:
        """The text, or None."""
        return self._kept.get(key)

    def put(self, key: str, value: str) -> None:
        """Store the text and drop the oldest entry of a full cache."""
        if len(value) > 65_536:
            return
        self._kept[key] = value
        while len(self._kept) > self._most:
            try:
                self._kept.popitem(last=False)
            except KeyError:
                return


class ScopedCache:
    """A view of a cache with keys of its own: other scopes do not find its entries."""

    def __init__(self, cache: Cache, scope: str) -> None:
        """`scope` separates equal keys, such as those of one model at two addresses."""
        self._cache = cache
        self._scope = scope

    def get(self, key: str) -> str | None:
        """The text, or None."""
        return self._cache.get(key_of(self._scope, key))

    def put(self, key: str, value: str) -> None:
        """Store the text."""
        self._cache.put(key_of(self._scope, key), value)


def store_value(cache: Cache, key: str, value: object) -> None:
    """Store a JSON value behind a checksum over it and its key."""
    text = json.dumps(value)
    cache.put(key, f"{key_of(key, text)} {text}")


def load_value(cache: Cache, key: str) -> object:
    """The stored value; None where there is none or its checksum does not match."""
    seal, _, text = (cache.get(key) or "").partition(" ")
    return json.loads(text) if seal == key_of(key, text) else None
