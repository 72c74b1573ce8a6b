"""The slots of a text: its words and its comparable values, such as numbers, dates and names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from otel_rt4chart.verify.language.dates import Moment, moments
from otel_rt4chart.verify.language.names import Name, initials, names
from otel_rt4chart.verify.language.negation import Denial, denials
from otel_rt4chart.verify.language.numbers import Quantity, quantities
from otel_rt4chart.verify.language.scope import ScopeWord, scope_words
from otel_rt4chart.verify.language.tokens import Token, tokenize

_CACHED_TEXTS = 4096
_CACHED_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class Slots:
    """One text with its words and values; `content` has the indices of its content words.

    `measures` gives, for the words of a value, keys that equal values share however they are
    written: `2 hours`, `120 minutes`. `positions` gives the positions of a stem or measure in
    `content`.
    """

    text: str
    tokens: tuple[Token, ...]
    content: tuple[int, ...]
    positions: dict[str, tuple[int, ...]]
    measures: dict[int, tuple[str, ...]]
    quantities: tuple[Quantity, ...]
    moments: tuple[Moment, ...]
    names: tuple[Name, ...]
    denials: tuple[Denial, ...]
    scope: tuple[ScopeWord, ...]
    initials: frozenset[str]

    @property
    def words(self) -> tuple[Token, ...]:
        """The content words in order."""
        return tuple(self.tokens[at] for at in self.content)

    @property
    def key(self) -> str:
        """The text without outer punctuation, case and spacing; equal for verbatim copies."""
        return " ".join(self.text.casefold().split()).strip(" .!?;,\"'“”")


def read_slots(text: str) -> Slots:
    """The slots of a text; a bounded number of short texts is cached."""
    return _read_cached(text) if len(text) <= _CACHED_LENGTH else _read(text)


def _read(text: str) -> Slots:
    tokens = tokenize(text)
    dates = moments(text)
    dated = frozenset(at for date in dates for at in range(date.start, date.end))
    content = tuple(at for at, token in enumerate(tokens) if token.is_content)
    counted = quantities(text, tokens, dated)  # a year or a day of a date is no quantity
    measures = _measures(tokens, counted, dates)
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
        names(tokens, dates),
        denials(tokens),
        scope_words(text),
        initials(tokens),
    )


def _measures(
    tokens: tuple[Token, ...], counted: tuple[Quantity, ...], dates: tuple[Moment, ...]
) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for at, token in enumerate(tokens):
        for one in counted:
            if one.start <= token.start < one.end:
                found[at] = (f"{one.value:.15g}", one.measure)
            elif one.end <= token.start < one.unit_end:
                found[at] = (one.measure,)
        for date in dates:
            if date.start <= token.start < date.end:
                found[at] = (f"~{date.parts}",)
    return found


@lru_cache(maxsize=_CACHED_TEXTS)
def _read_cached(text: str) -> Slots:
    return _read(text)
