"""What a claim says otherwise than the sentences it leans on: each slot beside its counterpart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from otel_rt4chart.verify.core.model import Slot
from otel_rt4chart.verify.language.context import Context
from otel_rt4chart.verify.language.dates import Moment, bears_out, borne_out, contradicts
from otel_rt4chart.verify.language.negation import Denial, are_opposite, parity
from otel_rt4chart.verify.language.numbers import FAMILIES, Quantity, agree, same_kind
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.synonyms import alike
from otel_rt4chart.verify.local.alignment import Alignment, path

Manner = Literal["clash", "opposite", "sibling", "swapped", "missing", "elsewhere"]
GAP = 3  # a counterpart is at most two words between the neighbours it shares with the claim


@dataclass(frozen=True, slots=True)
class Difference:
    """A value of the claim that its sentences do not bear out.

    `clash`: a sentence has another value in its place, `opposite`: its opposite, `sibling`: another
    kind of the same thing. `swapped`: the claim's subject has another value, and this one stands
    with another subject, or nowhere.
    `missing`: no sentence of the context has it. `elsewhere`: only a sentence that the claim does
    not lean on has it. `sentence` is the position of the sentence in the context, -1 where there
    is none.
    """

    slot: Slot
    manner: Manner
    claimed: str
    found: str = ""
    sentence: int = -1
    weight: float = 1.0


def number_differences(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """Quantities that the aligned sentences do not have, or have otherwise."""
    for quantity in claim.quantities:
        written = claim.text[quantity.start : quantity.end]
        near = [(at, other) for at in laid.sentences for other in context.sentences[at].quantities]
        if any(same_kind(quantity, other) and agree(quantity, other) for _, other in near):
            continue
        rival = next(((at, other) for at, other in near if _outdoes(other, quantity, claim)), None)
        if rival is None and any(_same(quantity, other) for _, other in near):
            continue
        if any(_same(quantity, other) for other in context.quantities):
            yield Difference("number", "elsewhere", measured(claim, quantity))
        elif _digits(written) not in context.holders:
            yield Difference("number", "missing", measured(claim, quantity))
        if rival is not None:
            at, other = rival
            found = measured(context.sentences[at], other)
            yield Difference("number", "clash", measured(claim, quantity), found, at)


def _outdoes(found: Quantity, claimed: Quantity, claim: Slots) -> bool:
    """Another value of the same kind, and none that the claim gives elsewhere."""
    return same_kind(claimed, found) and not any(agree(mine, found) for mine in claim.quantities)


def _same(claimed: Quantity, found: Quantity) -> bool:
    """Values agree, and their units do where both have one that converts or is a sign."""
    kinds = (claimed.base[0], found.base[0])
    return agree(claimed, found) and (kinds[0] == kinds[1] or not FAMILIES.issuperset(kinds))


def _digits(written: str) -> str:
    return "".join(letter for letter in written if letter.isdigit() or letter == ".").strip(".")


def measured(slots: Slots, quantity: Quantity) -> str:
    """The quantity with its unit, as the text has it: `14 days`."""
    return slots.text[quantity.start : quantity.unit_end].strip()


def date_differences(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """Dates and times that the aligned sentences do not have, or have otherwise."""
    for date in claim.moments:
        near = [(at, other) for at in laid.sentences for other in context.sentences[at].moments]
        if any(bears_out(date, other) for _, other in near):
            continue
        written = claim.text[date.start : date.end]
        known = borne_out(date, context.dates) or _is_bare_hour(date, written, context)
        if not known:
            yield Difference("date", "missing", written)
        rival = next(((at, other) for at, other in near if _rivals(date, other, claim)), None)
        if rival is not None:
            at, other = rival
            found = context.sentences[at].text[other.start : other.end]
            yield Difference("date", "clash", written, found, at)


def _is_bare_hour(date: Moment, written: str, context: Context) -> bool:
    """`7 pm` is not missing where somebody says `at 7`."""
    return date.minutes is not None and written.split(":")[0].rstrip(" apmAPM.") in context.holders


def _rivals(claimed: Moment, found: Moment, claim: Slots) -> bool:
    return contradicts(claimed, found) and not any(bears_out(mine, found) for mine in claim.moments)


def negation_differences(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """Words denied on one side and not on the other, and opposites, within the same predicate."""
    denied = parity(claim.denials)
    agreed: set[int] = set()
    flips: list[tuple[int, int, int]] = []
    for which, at in enumerate(laid.sentences):
        sentence = context.sentences[at]
        theirs = parity(sentence.denials)
        for word, places in enumerate(laid.meets[which]):
            mine = claim.content[word]
            flipped = [
                place
                for place in places
                if theirs.get(sentence.content[place], False) != denied.get(mine, False)
            ]
            if len(flipped) < len(places):
                agreed.add(word)
            elif flipped:
                flips.append((word, at, flipped[0]))
    for word, at, place in flips:
        sentence = context.sentences[at]
        pair = (claim.content[word], sentence.content[place])
        if word not in agreed and _is_shared(claim, sentence, _meets_of(laid, at), pair):
            yield _flip(claim, sentence, *pair, at)
    yield from _opposites(claim, laid, context)


def _meets_of(laid: Alignment, at: int) -> tuple[tuple[int, ...], ...]:
    return laid.meets[laid.sentences.index(at)]


def _is_shared(
    claim: Slots, sentence: Slots, meets: tuple[tuple[int, ...], ...], pair: tuple[int, int]
) -> bool:
    """The first denied word must be one that both texts have, with another of both beside it."""
    mine, theirs = pair
    met_here = {claim.content[word] for word, places in enumerate(meets) if places}
    met_there = {sentence.content[place] for places in meets for place in places}
    for denials, at, met in (
        (claim.denials, mine, met_here),
        (sentence.denials, theirs, met_there),
    ):
        for denial in denials:
            if at in denial.over:
                return denial.over[0] in met and _has_neighbour(claim, sentence, meets, pair)
    return False


def _has_neighbour(
    claim: Slots, sentence: Slots, meets: tuple[tuple[int, ...], ...], pair: tuple[int, int]
) -> bool:
    word, place = claim.content.index(pair[0]), sentence.content.index(pair[1])
    return any(
        other != word and other_place != place and abs(other_place - place) <= GAP
        for other in range(max(0, word - 2), min(len(meets), word + 3))
        for other_place in meets[other]
    )


def _flip(claim: Slots, sentence: Slots, mine: int, theirs: int, at: int) -> Difference:
    return Difference(
        "negation",
        "clash",
        _denied(claim, claim.denials, mine),
        _denied(sentence, sentence.denials, theirs),
        at,
    )


def _denied(slots: Slots, denials: tuple[Denial, ...], at: int) -> str:
    """The word with its negation, as it stands: `not required`, else the word alone."""
    token = slots.tokens[at]
    for denial in denials:
        if at in denial.over:
            cue = slots.tokens[denial.cue]
            return slots.text[min(cue.start, token.start) : max(cue.end, token.end)]
    return token.text


def _opposites(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """A word that no aligned sentence has, where one has its opposite beside the same neighbour."""
    denied = parity(claim.denials)
    for word, mine in enumerate(claim.content):
        if any(meets[word] for meets in laid.meets):
            continue
        for which, at in enumerate(laid.sentences):
            sentence = context.sentences[at]
            place = _opposite_place(claim, sentence, laid.meets[which], word)
            if place is None:
                continue
            other = sentence.content[place]
            if parity(sentence.denials).get(other, False) == denied.get(mine, False):
                found = sentence.tokens[other].text
                yield Difference("term", "opposite", claim.tokens[mine].text, found, at)
                break


def _opposite_place(
    claim: Slots, sentence: Slots, meets: tuple[tuple[int, ...], ...], word: int
) -> int | None:
    stem = claim.tokens[claim.content[word]].stem
    beside = [
        place
        for other in range(max(0, word - 2), min(len(meets), word + 3))
        for place in meets[other]
    ]
    for place in sorted({near for at in beside for near in range(at - GAP, at + GAP + 1)}):
        if 0 <= place < len(sentence.content):
            found = sentence.tokens[sentence.content[place]]
            if not found.norm.isalpha() or found.stem in claim.positions:
                continue  # `Q1` has the stem of `first`
            if are_opposite(stem, found.stem):
                return place
    return None


def term_differences(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """A word that stands where a sentence has another one between the same neighbours."""
    met_anywhere = [any(meets[word] for meets in laid.meets) for word in range(len(claim.content))]
    for which, at in enumerate(laid.sentences):
        sentence = context.sentences[at]
        places = path(laid.meets[which])
        for word in range(1, len(places) - 1):
            left, right = places[word - 1], places[word + 1]
            if met_anywhere[word] or left is None or right is None:
                continue
            if 1 < right - left <= GAP:
                between = sentence.content[left + 1 : right]
                token = claim.tokens[claim.content[word]]
                stems = [sentence.tokens[one].stem for one in between]
                if any(_is_near(claim, stem, word) for stem in stems):
                    continue
                if not alike(token.stem).isdisjoint(stems):
                    continue
                if any(are_opposite(token.stem, stem) for stem in stems):
                    continue  # with its negations, that is the opposites' business
                first, last = sentence.tokens[between[0]], sentence.tokens[between[-1]]
                found = sentence.text[first.start : last.end]
                yield Difference("term", "clash", token.text, found, at, token.rarity)


def _is_near(claim: Slots, stem: str, word: int) -> bool:
    """The claim says the counterpart too, right beside: an insertion, not an exchange."""
    return any(abs(place - word) <= GAP for place in claim.positions.get(stem, ()))
