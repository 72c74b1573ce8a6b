"""The sentences that a claim is judged on, indexed by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

from otel_rt4chart.verify.language.detection import detect_language
from otel_rt4chart.verify.language.numbers import Quantity
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.thesaurus import synonyms

_PREFIX = 5
_SAMPLE = 500  # words that show a context's language
_CACHED_CONTEXTS = 64
_CACHED_LENGTH = 40_000


@dataclass(frozen=True, slots=True)
class ContextIndex:
    """Sentences with, for each stem, the positions of the sentences that have it, in order.

    `prefixes` maps the first letters of a stem to all stems that begin with them. `keys` maps the
    key of a sentence to its position, to find verbatim copies.
    """

    sentences: tuple[Slots, ...]
    holders: dict[str, tuple[int, ...]]
    prefixes: dict[str, tuple[str, ...]]
    quantities: tuple[Quantity, ...]
    dates: frozenset[tuple[int | None, ...]]
    initials: frozenset[str]
    keys: dict[str, int]
    language: str | None

    def equivalents(self, stem: str, *measures: str) -> tuple[str, ...]:
        """The context's stems that match a claim's word: the same one, synonyms, other endings."""
        same = tuple(word for word in (stem, *measures) if word in self.holders)
        others = tuple(word for word in sorted(synonyms(stem)) if word in self.holders)
        return same + others + self._alike(stem)

    def _alike(self, stem: str) -> tuple[str, ...]:
        """The stems that differ in their ending alone: `nutrition` and `nutritional`."""
        if len(stem) < _PREFIX + 1 or not stem.isalpha():
            return ()
        return tuple(
            other
            for other in self.prefixes.get(stem[:_PREFIX], ())
            if other != stem
            and _common_prefix_length(stem, other) >= 0.7 * max(len(stem), len(other))
        )


def read_context(texts: Sequence[str]) -> ContextIndex:
    """The index of these sentences; a bounded number of short contexts and one long are cached."""
    key = tuple(texts)
    is_short = sum(map(len, key)) <= _CACHED_LENGTH
    return _read_cached(key) if is_short else _read_cached_long(key)


def _read(texts: tuple[str, ...]) -> ContextIndex:
    sentences = tuple(read_slots(text) for text in texts)
    holders: dict[str, list[int]] = {}
    for at, slots in enumerate(sentences):
        for stem in slots.positions:
            holders.setdefault(stem, []).append(at)
    prefixes: dict[str, list[str]] = {}
    for stem in holders:
        if len(stem) > _PREFIX and stem.isalpha():
            prefixes.setdefault(stem[:_PREFIX], []).append(stem)
    return ContextIndex(
        sentences,
        {stem: tuple(places) for stem, places in holders.items()},
        {start: tuple(sorted(stems)) for start, stems in prefixes.items()},
        tuple(quantity for slots in sentences for quantity in slots.quantities),
        frozenset(date.parts for slots in sentences for date in slots.moments),
        frozenset().union(*(slots.initials for slots in sentences)),
        # Reversed, so that of equal sentences the first one is the evidence.
        {slots.key: at for at, slots in reversed(tuple(enumerate(sentences)))},
        detect_language(islice(chain.from_iterable(slots.tokens for slots in sentences), _SAMPLE)),
    )


@lru_cache(maxsize=1)
def _read_cached_long(texts: tuple[str, ...]) -> ContextIndex:
    """A cache of one: an answer's claims are resolved in several calls on the same context."""
    return _read(texts)


@lru_cache(maxsize=_CACHED_CONTEXTS)
def _read_cached(texts: tuple[str, ...]) -> ContextIndex:
    return _read(texts)


def _common_prefix_length(left: str, right: str) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
