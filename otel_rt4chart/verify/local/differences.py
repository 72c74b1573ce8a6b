"""Differences between a claim and the sentences it is aligned with, one slot after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from otel_rt4chart.verify.core.model import Slot
from otel_rt4chart.verify.language.negation import Denial, are_opposite, parity
from otel_rt4chart.verify.language.slots import ContextIndex, Slots, has
from otel_rt4chart.verify.language.thesaurus import all_synonyms, siblings
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.language.word_lists import (
    CAN,
    DOUBTS,
    ECHOES,
    PERMITS,
    SAY_LITTLE,
    TAKES_OUT,
)
from otel_rt4chart.verify.local.alignment import Alignment, matching_positions
from otel_rt4chart.verify.local.comparison import is_behind_preposition

Manner = Literal[
    "clash", "opposite", "sibling", "swapped", "missing", "elsewhere",
    "admitted", "narrowed", "beyond", "implied",
]  # fmt: skip
# Nothing is known against a claim's words of these manners.
SETTLED = ("admitted", "narrowed", "beyond", "implied")
_WORD = re.compile(r"\w+")
_TAKES_OUT = re.compile(TAKES_OUT, re.IGNORECASE)
MAX_GAP = 3  # at most two words of a sentence stand between two that it shares with the claim


@dataclass(frozen=True, slots=True)
class SlotDifference:
    """A value of the claim that the aligned sentences do not support.

    The `manner` is one of these. `clash`: a sentence has another value in its place. `opposite`: a
    sentence has its opposite. `sibling`: a sentence has another kind of the same thing. `swapped`:
    the claim's subject has another value, and this one stands with another subject, or nowhere.
    `missing`: no sentence of the context has it. `elsewhere`: only a sentence that is not aligned
    has it. `admitted`: the claim speaks of a case within a sentence's limit. `narrowed`: it gives
    one value where a sentence gives a limit. `beyond`: it speaks of a case that the limit leaves
    out, and says something else of it. `implied`: it may follow from what a sentence has, by
    arithmetic or by a converse.

    `sentence` is the position of the sentence in the context, -1 where there is none. A clash that
    is not `is_exclusive` may be none: both values can hold. One that `is_exact` is of an identifier
    that no sentence has: nothing else in the context makes up for it.
    """

    slot: Slot
    manner: Manner
    claimed: str
    found: str = ""
    sentence: int = -1
    weight: float = 1.0
    is_exclusive: bool = True
    is_exact: bool = False


def is_part(words: str, others: str) -> bool:
    """True where all of these words are among the others."""
    return set(_WORD.findall(words.casefold())) <= set(_WORD.findall(others.casefold()))


def negation_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Words that one side negates and the other does not, and opposites, in the same predicate."""
    agreed: set[int] = set()
    flips: list[tuple[int, int, int]] = []
    for which, at in enumerate(alignment.sentences):
        sentence = context.sentences[at]
        if deny_alike(claim, sentence) or excepts(claim, sentence):
            continue
        denied = claim.denied_beside(sentence)
        denied_found = sentence.denied_beside(claim)
        for word, places in enumerate(alignment.matches[which]):
            token = claim.content[word]
            flipped = [
                place
                for place in places
                if denied_found.get(sentence.content[place], False) != denied.get(token, False)
            ]
            if len(flipped) < len(places):
                agreed.add(word)
            elif flipped:
                flips.append((word, at, flipped[0]))
    for word, at, place in sorted(flips, key=lambda one: _is_denied_later(one, claim, context)):
        sentence = context.sentences[at]
        pair = (claim.content[word], sentence.content[place])
        if word not in agreed and _is_shared(claim, sentence, _matches_in(alignment, at), pair):
            yield _flip(claim, sentence, *pair, at)
    yield from _opposites(claim, alignment, context)


def excepts(claim: Slots, sentence: Slots) -> bool:
    """True where the claim takes out the very thing that the sentence denies.

    "Dogs are allowed, but not in the restaurant" and "Dogs are not allowed in the restaurant".
    """
    return bool(sentence.denials) and any(
        taken.keys() <= sentence.positions.keys()
        for match in _TAKES_OUT.finditer(claim.text)
        if (taken := content(match.group(1)))
    )


def deny_alike(claim: Slots, sentence: Slots) -> bool:
    """True where both texts deny the same words: what else a negation reaches is their syntax.

    "SMS bundles are not refundable, and neither are books" and "SMS bundles and books are not
    refundable". An echo with "neither" or "nor" denies what its sentence denies before.
    """
    return bool(sentence.denials) and _denied_heads(claim) == _denied_heads(sentence)


def _denied_heads(slots: Slots) -> frozenset[str]:
    """The stems of the first word that each negation denies."""
    echoes = [one for one in slots.denials if slots.tokens[one.cue].norm in ECHOES]
    own = [one for one in slots.denials if one not in echoes] or echoes
    return frozenset(slots.tokens[one.over[0]].stem for one in own)


def _is_denied_later(flip: tuple[int, int, int], claim: Slots, context: ContextIndex) -> bool:
    """False for the first word that a negation denies: "covered" of "not covered in hotels"."""
    word, at, place = flip
    sentence = context.sentences[at]
    first = {one.over[0] for one in sentence.denials} | {one.over[0] for one in claim.denials}
    return sentence.content[place] not in first and claim.content[word] not in first


def _matches_in(alignment: Alignment, at: int) -> tuple[tuple[int, ...], ...]:
    return alignment.matches[alignment.sentences.index(at)]


def _is_shared(
    claim: Slots, sentence: Slots, matches: tuple[tuple[int, ...], ...], pair: tuple[int, int]
) -> bool:
    """True where both texts have the first negated word, with another shared word near it.

    Else the negation belongs to another predicate, and the texts do not differ in it.
    """
    claim_at, found_at = pair
    met_in_claim = {claim.content[word] for word, places in enumerate(matches) if places}
    met_in_sentence = {sentence.content[place] for places in matches for place in places}
    for denials, at, met in (
        (claim.denials, claim_at, met_in_claim),
        (sentence.denials, found_at, met_in_sentence),
    ):
        for denial in denials:
            if at in denial.over:
                forbids = denials is sentence.denials and _is_forbidden(claim, sentence, denial)
                is_met = forbids or denial.over[0] in met
                return is_met and _has_neighbour(claim, sentence, matches, pair)
    return False


def _is_forbidden(claim: Slots, sentence: Slots, denial: Denial) -> bool:
    """True for `not allowed in …` beside `can be packed in …`."""
    is_permitted = any(token.norm in CAN for token in claim.tokens)
    return is_permitted and sentence.tokens[denial.over[0]].stem in PERMITS


def _has_neighbour(
    claim: Slots, sentence: Slots, matches: tuple[tuple[int, ...], ...], pair: tuple[int, int]
) -> bool:
    word, place = claim.content.index(pair[0]), sentence.content.index(pair[1])
    return any(
        other != word and other_place != place and abs(other_place - place) <= MAX_GAP
        for other in range(max(0, word - 2), min(len(matches), word + 3))
        for other_place in matches[other]
    )


def _flip(claim: Slots, sentence: Slots, claim_at: int, found_at: int, at: int) -> SlotDifference:
    return SlotDifference(
        "negation",
        "clash",
        _denied(claim, claim.denials, claim_at),
        _denied(sentence, sentence.denials, found_at),
        at,
    )


def _denied(slots: Slots, denials: tuple[Denial, ...], at: int) -> str:
    """The word with its negation, as the text writes it: `not required`; else the word alone."""
    token = slots.tokens[at]
    for denial in denials:
        if at in denial.over:
            cue = slots.tokens[denial.cue]
            return slots.text[min(cue.start, token.start) : max(cue.end, token.end)]
    return token.text


def _opposites(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Words that no aligned sentence has, where one has the opposite near the same neighbour."""
    denied = parity(claim.denials)
    for word, claim_at in enumerate(claim.content):
        if any(matches[word] for matches in alignment.matches):
            continue
        for which, at in enumerate(alignment.sentences):
            sentence = context.sentences[at]
            place = _opposite_place(claim, sentence, alignment.matches[which], word)
            if place is None:
                continue
            other = sentence.content[place]
            if parity(sentence.denials).get(other, False) == denied.get(claim_at, False):
                found = sentence.tokens[other].text
                yield SlotDifference("term", "opposite", claim.tokens[claim_at].text, found, at)
                break


def _opposite_place(
    claim: Slots, sentence: Slots, matches: tuple[tuple[int, ...], ...], word: int
) -> int | None:
    stem = claim.tokens[claim.content[word]].stem
    beside = [
        place
        for other in range(max(0, word - 2), min(len(matches), word + 3))
        for place in matches[other]
    ]
    for place in sorted({near for at in beside for near in range(at - MAX_GAP, at + MAX_GAP + 1)}):
        if 0 <= place < len(sentence.content):
            found = sentence.tokens[sentence.content[place]]
            if not found.norm.isalpha() or found.stem in claim.positions or found.norm == "know":
                continue  # `Q1` has the stem of `first`; "you know" fills a pause
            if are_opposite(stem, found.stem):
                return place
    return None


def term_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Words in whose place a sentence has another one, between the same two neighbours."""
    met_anywhere = [
        any(matches[word] for matches in alignment.matches) for word in range(len(claim.content))
    ]
    for which, at in enumerate(alignment.sentences):
        sentence = context.sentences[at]
        places = alignment.paths[which]
        for word in range(1, len(places) - 1):
            left, right = places[word - 1], places[word + 1]
            if met_anywhere[word] or left is None or right is None:
                continue
            if 1 < right - left <= MAX_GAP:
                between = sentence.content[left + 1 : right]
                token = claim.tokens[claim.content[word]]
                stems = [sentence.tokens[one].stem for one in between]
                if any(_is_near(claim, stem, word) for stem in stems):
                    continue
                if not all_synonyms(token.stem).isdisjoint(stems):
                    continue
                if any(are_opposite(token.stem, stem) for stem in stems):
                    continue  # `_opposites` reports these, with regard to negations
                if token.stem in SAY_LITTLE or SAY_LITTLE.issuperset(stems):
                    continue  # backups are made or run; what works for 7 days is valid for them
                first, last = sentence.tokens[between[0]], sentence.tokens[between[-1]]
                found = sentence.text[first.start : last.end]
                yield SlotDifference("term", "clash", token.text, found, at, token.rarity)


def _is_near(claim: Slots, stem: str, word: int) -> bool:
    """True where the claim says the counterpart too, near the word: an insertion, no exchange."""
    return any(abs(place - word) <= MAX_GAP for place in claim.positions.get(stem, ()))


_MAX_SIBLING_SENTENCES = 20  # bounds the search where the sibling is a frequent word


def sibling_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """`guitar` where any sentence of the context says `piano` near a word that both have."""
    for word, at in enumerate(claim.content):
        if alignment.equivalents[word] or claim.tokens[at].is_capital:
            continue
        found = _sibling(claim, alignment, context, word)
        if found is not None:
            yield found


def _sibling(
    claim: Slots, alignment: Alignment, context: ContextIndex, word: int
) -> SlotDifference | None:
    token = claim.tokens[claim.content[word]]
    for sibling in sorted(siblings(token.stem) - claim.positions.keys()):
        for which in context.holders.get(sibling, ())[:_MAX_SIBLING_SENTENCES]:
            sentence = context.sentences[which]
            place = _sibling_position(claim, alignment, sentence, word, sibling)
            if place is not None:
                other = sentence.tokens[sentence.content[place]]
                return SlotDifference("term", "sibling", token.text, other.text, which)
    return None


def _sibling_position(
    claim: Slots, alignment: Alignment, sentence: Slots, word: int, stem: str
) -> int | None:
    """The stem's position near a word that the claim has near its own word too."""
    beside = range(max(0, word - 2), min(len(claim.content), word + 3))
    shared = [
        place
        for other, places in zip(
            beside,
            matching_positions([alignment.equivalents[one] for one in beside], sentence),
            strict=True,
        )
        if other != word
        for place in places
    ]
    return next(
        (
            place
            for place in sentence.positions[stem]
            if any(abs(place - one) <= MAX_GAP for one in shared)
        ),
        None,
    )


def scope_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Widened quantifiers, `all` for `some`, and dropped hedges, `reduces` for `may reduce`."""
    if alignment.sentences:
        yield from _widened_quantifiers(claim, alignment, context)
        yield from _dropped_hedges(claim, alignment, context)


def _dropped_hedges(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    sentence = context.sentences[alignment.sentences[0]]
    if has(claim.scope, "hedge") or _is_asserted_elsewhere(alignment, context):
        return
    for doubt, token in enumerate(sentence.tokens):
        if token.norm not in DOUBTS or (token.text == "May" and doubt):
            continue
        place = next((place for place, at in enumerate(sentence.content) if at > doubt), None)
        for word, places in enumerate(alignment.matches[0]):
            if place is not None and place in places and not is_behind_preposition(claim, word):
                found = sentence.text[token.start : sentence.tokens[sentence.content[place]].end]
                claimed = claim.tokens[claim.content[word]].text
                yield SlotDifference("quantifier", "clash", claimed, found, alignment.sentences[0])


def _is_asserted_elsewhere(alignment: Alignment, context: ContextIndex) -> bool:
    """True where a sentence without a hedge has all words of the claim that the best one has."""
    held = [
        stems
        for stems, places in zip(alignment.equivalents, alignment.matches[0], strict=True)
        if places
    ]
    return any(
        all(any(stem in other.positions for stem in stems) for stems in held)
        and not any(token.norm in DOUBTS for token in other.tokens)
        for other in _holders_of_rarest(held, context)
    )


def _holders_of_rarest(held: Sequence[tuple[str, ...]], context: ContextIndex) -> Iterable[Slots]:
    """The sentences with the word that the fewest have; all of them without a word."""
    if not held:
        return context.sentences
    rarest = min(held, key=lambda stems: sum(len(context.holders[stem]) for stem in stems))
    return (context.sentences[at] for stem in rarest for at in context.holders[stem])


def _widened_quantifiers(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """`all` where the best sentence says `some` or `only`."""
    if not has(claim.scope, "universal"):
        return
    sentence = context.sentences[alignment.sentences[0]]
    narrower = [word for word in sentence.scope if word.kind in ("partial", "restriction")]
    if not narrower or has(sentence.scope, "universal"):
        return
    if any(word.kind in ("partial", "restriction") for word in claim.scope):
        return
    universal = next(word for word in claim.scope if word.kind == "universal")
    yield SlotDifference(
        "quantifier",
        "clash",
        claim.text[universal.start : universal.end],
        sentence.text[narrower[0].start : narrower[0].end],
        alignment.sentences[0],
    )
