"""Function words that change what is said: `before` and `after`, `may` and `must`, tenses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from otel_rt4chart.verify.decompose.coordination import listed, verbs
from otel_rt4chart.verify.language.slots import Slots, has
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


Force = Literal["possible", "able", "advised", "obliged", "sought", "former", "future", "ongoing"]
_TO = r"\s+to\b"
# How a text says that something may, can, should, must or will be so; "May" is the month.
_FORCES: dict[Force, str] = {
    "possible": r"\b(?:(?-i:may)|might|could|possibl[ye])\b",
    "able": rf"\bcan\b|\b(?:is|are)\s+(?:allowed|permitted|able|free|welcome|entitled){_TO}",
    "advised": (
        rf"\bshould\b|\bought{_TO}|\b(?:is|are)\s+(?:advised|encouraged|asked|invited){_TO}"
        rf"|\b(?:recommend(?:s|ed)?|suggest(?:s|ed)?|advise[sd]?)\b(?:{_TO})?"
    ),
    "obliged": (
        rf"\bmust\b|\b(?:ha(?:s|ve)|needs?|obliged|obligated){_TO}"
        rf"|\brequire[sd]?\b(?:{_TO})?|\b(?:mandatory|compulsory|obligatory)\b"
    ),
    "former": rf"\bused{_TO}",
    "sought": rf"\b(?:plan|hope|tr(?:y|ie)|aim|intend|seek|wish|expect)s?{_TO}",
    "future": (
        rf"\bwill\b|\w['’]ll\b|\bgoing{_TO}|\b(?:is|are|ready|due|set|expected|scheduled|planned){_TO}"
        r"(?=\s+be\b)|\b(?:planned|scheduled|expected|due|upcoming)\b"
    ),
    "ongoing": r"\b(?:is|are)\s+being\b",
}
_FORCE = re.compile(
    "|".join(f"(?P<{force}>{words})" for force, words in _FORCES.items()), re.IGNORECASE
)
# What a claim says too much with, for what the passage says. Without a word of force it is "plain",
# or by its form "done", `has been paid` or `arrived`; "past", `was paid`; "present", `is paid`.
_OVERSTATED: dict[str, frozenset[str]] = {
    "possible": frozenset(("future", "obliged", "plain", "present", "done")),
    "able": frozenset(("future", "obliged")),
    "advised": frozenset(("obliged", "done")),
    "sought": frozenset(("future", "obliged", "plain", "present", "done")),
    "former": frozenset(("future", "plain", "present")),
    "future": frozenset(("done",)),
    "ongoing": frozenset(("done",)),
    "done": frozenset(("future", "ongoing")),
    "past": frozenset(("future", "ongoing", "present")),
}
# What says that something has happened, or is so already.
_HAPPENED = re.compile(
    r"\b(?:took\s+place|happened|occurred|arrived|came|(?:was|were)\s+(?:held|released|launched"
    r"|introduced|opened|published|completed|delivered))\b",
    re.IGNORECASE,
)
_AT_PRESENT = re.compile(r"\b(?:is|are)\s+(?:now|already|currently|\w+\s+now)\b", re.IGNORECASE)
_PAST = listed("was were had")
_YOU = listed("i you we they")
_PERFECT = listed("has have")
_PARTICIPLES = ("ed", "en", "wn", "ld", "nt", "id")


class _Forced(NamedTuple):
    """A word of force in a text, and the content word behind it, by its position."""

    force: Force
    written: str
    word: int


def _forced(slots: Slots) -> Iterator[_Forced]:
    """Each word of force, with the content word that it governs; without one, the one before."""
    places = slots.content_places
    for match in _FORCE.finditer(slots.text):
        behind = [at for at, token in enumerate(slots.tokens) if token.start >= match.end()]
        word = next((places[at] for at in behind[:_GOVERNS] if at in places), None)
        if word is None:
            before = [at for at in places if slots.tokens[at].end <= match.start()]
            word = places[max(before)] if before else None
        force = next(one for one in _FORCES if one == match.lastgroup)
        if word is not None:
            yield _Forced(force, match.group(), word)


def other_force(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`You must bring it` for `You should bring it`, `has been paid` for `will be paid`."""
    return in_all_near(comparison, _force_in)


def _force_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence, matches = comparison.claim, comparison.sentence(at), comparison.matches[at]
    if any(not one.tokens[cue.cue].is_content for one in (claim, sentence) for cue in one.denials):
        return None  # "may not" is "must not"
    own, theirs = list(_forced(claim)), list(_forced(sentence))
    for word, places in enumerate(matches):
        ours = [one for one in own if one.word == word]
        told = [one for one in theirs if one.word in places]
        said: set[str] = {one.force for one in told} or {_tense(sentence, one) for one in places}
        meant: set[str] = {one.force for one in ours} or {_bare_force(claim, word, own)}
        others = said - meant
        if others and all(meant & _OVERSTATED.get(one, frozenset()) for one in others):
            return StructuralDoubt(
                _with_force(claim, word, ours), _with_force(sentence, places[0], told), at
            )
    return _event_doubt(comparison, at, own, theirs)


def _tense(slots: Slots, place: int) -> str:
    at = slots.content[place]
    if not _is_done(slots, at):
        return "plain"
    norms = [token.norm for token in slots.tokens[max(0, at - 2) : at]]
    is_past = not {"was", "were"}.isdisjoint(norms) and _PERFECT.isdisjoint(norms)
    return "past" if is_past else "done"


def _bare_force(claim: Slots, word: int, forced: Collection[_Forced]) -> str:
    """What the claim says with a word that no word of force governs; "" where that is open."""
    at = claim.content[word]
    before = claim.tokens[at - 1].norm if at else ""
    if _is_done(claim, at):
        return "done"
    if forced or has(claim.scope, "hedge") or has(claim.scope, "condition"):
        return ""
    token = claim.tokens[at]
    if before in ("is", "are") and token.norm.endswith(_PARTICIPLES):
        return "present"
    is_verbal = token.norm in verbs() or before in (*_YOU, "is", "are")
    return "plain" if is_verbal else ""


def _is_done(slots: Slots, at: int) -> bool:
    """True for a verb in the past or the perfect: `was paid`, `has been paid`, `arrived`."""
    norms = [token.norm for token in slots.tokens[max(0, at - 2) : at]]
    if not slots.tokens[at].norm.endswith(_PARTICIPLES) or slots.tokens[at].is_capital:
        return False
    if "being" in norms or ("be" in norms and not _PERFECT.intersection(norms)):
        return False
    if _PAST.intersection(norms) or _PERFECT.intersection(norms):
        return True
    form = verbs().get(slots.tokens[at].norm)
    return form is not None and form.is_past and not listed("is are be").intersection(norms)


def _event_doubt(
    comparison: ComparedClaim, at: int, own: Collection[_Forced], theirs: Collection[_Forced]
) -> StructuralDoubt | None:
    """`It took place in May` or `it is open now` for `it is planned for May`."""
    claim, sentence = comparison.claim, comparison.sentence(at)
    coming = [one for one in theirs if one.force in ("sought", "future")]
    happened = _HAPPENED.search(claim.text) or _AT_PRESENT.search(claim.text)
    if not coming or own or happened is None:
        return None
    if _HAPPENED.search(sentence.text) or _AT_PRESENT.search(sentence.text):
        return None
    return StructuralDoubt(happened.group(), coming[0].written, at)


def _with_force(slots: Slots, word: int, forced: Sequence[_Forced]) -> str:
    """The word with the word of force before it, or with the auxiliary before it."""
    at = slots.content[word]
    if forced:
        start, written = slots.text.find(forced[0].written), forced[0].written
        end = max(start + len(written), slots.tokens[at].end)
        return slots.text[min(start, slots.tokens[at].start) : end]
    first = at
    while first and at - first < _LONGEST_PHRASE and not slots.tokens[first - 1].is_content:
        first -= 1
    return phrase(slots, first, at)
