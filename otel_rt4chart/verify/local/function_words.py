"""Opposed function words before the same word: `before` and `after`, `for` and `against`."""

from __future__ import annotations

from typing import NamedTuple

from otel_rt4chart.verify.decompose.coordination import listed
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.local.comparison import (
    ComparedClaim,
    StructuralDoubt,
    in_all_near,
    phrase,
)

# Pairs of function words that say the opposite of each other before the same word.
_OPPOSED = (
    (listed("before prior ahead"), listed("after")),
    (listed("for"), listed("against")),
    (listed("with"), listed("without")),
    (listed("above over"), listed("below under beneath underneath")),
    (listed("to into onto"), listed("from")),
    (listed("from since"), listed("until till")),
    (listed("inside within"), listed("outside")),
    (listed("more greater higher"), listed("less fewer lower")),
)
_TIME = 0  # before and after oppose each other whatever stands on their left
_MORE = len(_OPPOSED) - 1  # "A has more than B" is what "B has less than A" says
_GOVERNS = 4  # words behind a function word, among which is the one that it governs
_LONGEST_PHRASE = 3


class _Governed(NamedTuple):
    """A function word, by its token, and the content word behind it, by its position."""

    pair: int
    is_first: bool
    cue: int
    word: int


def _governed(slots: Slots) -> list[_Governed]:
    found = []
    places = slots.content_places
    for at, token in enumerate(slots.tokens):
        for pair, (first, second) in enumerate(_OPPOSED):
            if token.norm in first or token.norm in second:
                word = _first_content(slots, at, places)
                if word is not None:
                    found.append(_Governed(pair, token.norm in first, at, word))
    return found


def _first_content(slots: Slots, cue: int, places: dict[int, int]) -> int | None:
    for at in range(cue + 1, min(len(slots.tokens), cue + 1 + _GOVERNS)):
        if slots.tokens[at].starts_clause:
            return None
        if at in places:
            return places[at]
    return None


def opposed_word(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`after you travel` for `before you travel`, `for the closure` for `against the closure`."""
    return in_all_near(comparison, _opposed_in)


def _opposed_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence, matches = comparison.claim, comparison.sentence(at), comparison.matches[at]
    if claim.denials or sentence.denials:
        return None  # "not before" says "after"
    theirs = _governed(sentence)
    compares = any(token.norm == "than" for token in (*claim.tokens, *sentence.tokens))
    for own in _governed(claim):
        if own.pair == _MORE and compares:
            continue
        same = [one for one in theirs if one.pair == own.pair and one.word in matches[own.word]]
        if not same or any(one.is_first == own.is_first for one in same):
            continue
        left = matches[own.word - 1] if own.word else ()
        if own.pair == _TIME or any(
            one.word - 1 - place in (0, 1) for one in same for place in left
        ):
            return StructuralDoubt(_phrase_from(claim, own), _phrase_from(sentence, same[0]), at)
    return None


def _phrase_from(slots: Slots, one: _Governed) -> str:
    """The function word and what it governs: `before your last working day`."""
    last = slots.content[one.word]
    for at in range(last + 1, min(len(slots.tokens), last + _LONGEST_PHRASE)):
        if slots.tokens[at].starts_clause or not slots.tokens[at].is_content:
            break
        last = at
    return phrase(slots, one.cue, last)
