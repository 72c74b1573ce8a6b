"""The slots of a text: its words, values and qualifiers, and an index of them over a context."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from otel_rt4chart.verify.language.agreement import QuantityIndex, index_quantities
from otel_rt4chart.verify.language.dates import Moment, moments
from otel_rt4chart.verify.language.identifiers import Identifier, identifiers, keys
from otel_rt4chart.verify.language.names import Name, initials, names
from otel_rt4chart.verify.language.negation import Denial, denials, parity
from otel_rt4chart.verify.language.thesaurus import synonyms
from otel_rt4chart.verify.language.tokens import (
    Token,
    token_range,
    tokenize,
)
from otel_rt4chart.verify.language.values import Quantity, quantities
from otel_rt4chart.verify.language.word_lists import JUDGE_WORDS, ScopeKind
from otel_rt4chart.verify.text.text_cache import TextCache

_SCOPE = re.compile(
    "|".join(rf"\b(?P<{kind}>(?:{pattern}))\b" for kind, pattern in JUDGE_WORDS.items()),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ScopeWord:
    """A quantifier or qualifier at `text[start:end]`."""

    kind: ScopeKind
    norm: str
    start: int
    end: int


def scope_words(text: str) -> tuple[ScopeWord, ...]:
    """The quantifiers and qualifiers of a text, in order; `May` the month is none."""
    return tuple(
        ScopeWord(kind, match.group().lower(), match.start(), match.end())
        for match in _SCOPE.finditer(text)
        for kind in (_scope_kind(match.lastgroup),)
        if not (match.group() == "May" and match.start() > 0)
    )


def has(words: Sequence[ScopeWord], kind: ScopeKind) -> bool:
    """True where one of the words is of that kind."""
    return any(word.kind == kind for word in words)


def _scope_kind(name: str | None) -> ScopeKind:
    return next(kind for kind in JUDGE_WORDS if kind == name)


# Characters of the texts in the cache: the sentences of about 40 pages. Their slots take 25 MiB.
_CACHED_CHARACTERS = 250_000


@dataclass(frozen=True, slots=True)
class Slots:
    """One text with its words and values; `content` has the indices of its content words.

    `measures` gives, for the words of a value, keys that equal values share however they are
    written: `2 hours`, `120 minutes`; `$5 a month`, `$60 a year`; `AB-12345`, `ab12345`.
    `positions` gives the positions of a stem or measure in `content`. An identifier in digits
    alone, `4000123412341234`, is a quantity, too: it may be written with separators.
    """

    text: str
    tokens: tuple[Token, ...]
    content: tuple[int, ...]
    positions: dict[str, tuple[int, ...]]
    measures: dict[int, tuple[str, ...]]
    quantities: tuple[Quantity, ...]
    moments: tuple[Moment, ...]
    identifiers: tuple[Identifier, ...]
    names: tuple[Name, ...]
    denials: tuple[Denial, ...]
    scope: tuple[ScopeWord, ...]
    initials: frozenset[str]

    @property
    def words(self) -> tuple[Token, ...]:
        """The content words in order."""
        return tuple(self.tokens[at] for at in self.content)

    @property
    def content_places(self) -> dict[int, int]:
        """For each content word, by the index of its token, its position in `content`."""
        return {at: place for place, at in enumerate(self.content)}

    def denied_beside(self, other: Slots) -> Mapping[int, bool]:
        """The parity of the denials by function words, and by words that the other text lacks.

        Of `after a failed payment` and `if a payment fails`, neither denies the payment.
        """
        cues = {one: self.tokens[one.cue] for one in self.denials}
        return parity(
            [
                one
                for one, cue in cues.items()
                if not cue.is_content or cue.stem not in other.positions
            ]
        )

    @property
    def key(self) -> str:
        """The text without outer punctuation, case and spacing; equal for verbatim copies."""
        return " ".join(self.text.casefold().split()).strip(" .!?;,\"'“”。！？；，、؟")


def quantity_text(slots: Slots, quantity: Quantity) -> str:
    """The quantity with its unit, as the text writes it: `14 days`."""
    return slots.text[quantity.start : quantity.unit_end].strip()


def read_slots(text: str) -> Slots:
    """The slots of a text; recent texts are cached."""
    return _cached_slots(text)


def _read(text: str) -> Slots:
    tokens = tokenize(text)
    dates = moments(text)
    coded = identifiers(text, _places(dates))
    in_codes = _places(one for one in coded if not text[one.start : one.end].isdigit())
    dates = tuple(one for one in dates if one.start not in in_codes)
    taken = _places(dates) | in_codes  # a year or a day of a date is no quantity
    content = tuple(at for at, token in enumerate(tokens) if token.is_content)
    counted = quantities(text, tokens, taken)
    measures = _measures(tokens, counted, dates, coded)
    positions: dict[str, list[int]] = {}
    for place, at in enumerate(content):
        for stem in {tokens[at].stem, *measures.get(at, ())}:
            positions.setdefault(stem, []).append(place)
    return Slots(
        text,
        tokens,
        content,
        {stem: tuple(places) for stem, places in positions.items()},
        measures,
        counted,
        dates,
        coded,
        names(tokens, taken),
        denials(tokens),
        scope_words(text),
        initials(tokens),
    )


def _places(found: Iterable[Moment | Identifier]) -> frozenset[int]:
    return frozenset(at for one in found for at in range(one.start, one.end))


def _measures(
    tokens: tuple[Token, ...],
    counted: tuple[Quantity, ...],
    dates: tuple[Moment, ...],
    coded: tuple[Identifier, ...],
) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for one in counted:
        for at in token_range(tokens, one.start, one.end):
            rate = (one.rate_measure,) if one.period else ()
            found[at] = (one.plain, one.measure, *rate)
        for at in token_range(tokens, one.end, one.unit_end):
            found[at] = (one.measure,)
    for date in dates:
        for at in token_range(tokens, date.start, date.end):
            found[at] = (f"~{date.parts}",)
    for code in coded:
        for at in token_range(tokens, code.start, code.end):
            found[at] = (*found.get(at, ()), *code.measures)
    return found


_cached_slots = TextCache(_read, len, characters=_CACHED_CHARACTERS)

_PREFIX = 5
_ALIKE = 0.7  # of the longer of two stems, their common beginning
_MAX_ALIKE = 200  # stems are compared with each other; no dictionary has as many in one place


@dataclass(frozen=True, slots=True)
class ContextIndex:
    """Sentences with, for each stem, the positions of the sentences that have it, in order.

    `prefixes` maps the first letters of a stem to all stems that begin with them. `keys` maps the
    key of a sentence to its position, to find verbatim copies.
    """

    sentences: tuple[Slots, ...]
    holders: dict[str, tuple[int, ...]]
    prefixes: dict[str, tuple[str, ...]]
    quantities: QuantityIndex
    dates: frozenset[tuple[int | None, ...]]
    identifiers: frozenset[str]
    initials: frozenset[str]
    keys: dict[str, int]

    def equivalents(self, stem: str, *measures: str) -> tuple[str, ...]:
        """The context's stems that match a claim's word: the same one, synonyms, other endings."""
        same = tuple(word for word in (stem, *measures) if word in self.holders)
        others = tuple(word for word in sorted(synonyms(stem)) if word in self.holders)
        return same + others + self._alike(stem)

    def has_word(self, stem: str) -> bool:
        """True where the context has the word, an identifier, or a version of this release."""
        return stem in self.holders or not self.identifiers.isdisjoint((stem, f"{stem}."))

    def _alike(self, stem: str) -> tuple[str, ...]:
        """The stems that differ in their ending alone: `nutrition` and `nutritional`."""
        if len(stem) < _PREFIX + 1 or not stem.isalpha():
            return ()
        stems = self.prefixes.get(stem[:_PREFIX], ())
        first = bisect_left(stems, stem[: max(_PREFIX, int(_ALIKE * len(stem)))])
        return tuple(
            other
            for other in stems[first : first + _MAX_ALIKE]
            if other != stem
            and _common_prefix_length(stem, other) >= _ALIKE * max(len(stem), len(other))
        )


def read_context(texts: Sequence[str]) -> ContextIndex:
    """The index of these sentences; recent contexts are cached, and one that is long."""
    key = tuple(texts)
    is_short = 2 * _length(key) <= _CACHED_CHARACTERS
    return _cached_index(key) if is_short else _cached_long_index(key)


def _length(texts: tuple[str, ...]) -> int:
    return sum(map(len, texts))


def _index(texts: tuple[str, ...]) -> ContextIndex:
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
        index_quantities(quantity for slots in sentences for quantity in slots.quantities),
        frozenset(date.parts for slots in sentences for date in slots.moments),
        frozenset(key for slots in sentences for key in _keys(slots)),
        frozenset().union(*(slots.initials for slots in sentences)),
        # Reversed, so that of equal sentences the first one is the evidence.
        {slots.key: at for at, slots in reversed(tuple(enumerate(sentences)))},
    )


def _keys(slots: Slots) -> Iterator[str]:
    """The keys of a text's identifiers and of its whole numbers."""
    yield from keys(slots.identifiers)
    yield from (one.plain for one in slots.quantities)


# An answer's claims are resolved in several calls on the same context. Of the long contexts, those
# of two threads are kept.
_cached_index = TextCache(_index, _length, characters=_CACHED_CHARACTERS)
_cached_long_index = lru_cache(maxsize=2)(_index)


def _common_prefix_length(left: str, right: str) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
