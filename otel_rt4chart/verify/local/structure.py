"""What stands between a claim and its nearest sentences: order, scope, roles, units and bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from otel_rt4chart.verify.core.model import Judgement, Label, Sentence
from otel_rt4chart.verify.language.agreement import values_agree
from otel_rt4chart.verify.language.identifiers import is_code_in, labelled_codes
from otel_rt4chart.verify.language.limits import Limit, quantity_limits
from otel_rt4chart.verify.language.slots import Slots, quantity_text
from otel_rt4chart.verify.language.units import SIGNS, is_measure
from otel_rt4chart.verify.language.values import Quantity
from otel_rt4chart.verify.language.word_lists import SAY_LITTLE
from otel_rt4chart.verify.local.alignment import matching_positions, stray_word
from otel_rt4chart.verify.local.bindings import rebound_value
from otel_rt4chart.verify.local.comparison import ComparedClaim, StructuralDoubt, compare
from otel_rt4chart.verify.local.differences import SETTLED, SlotDifference
from otel_rt4chart.verify.local.event_order import reversed_order
from otel_rt4chart.verify.local.features import ClaimReading
from otel_rt4chart.verify.local.function_words import opposed_word, other_force
from otel_rt4chart.verify.local.joins import (
    listed_words,
    names_apart,
    other_in_place,
    other_subject,
    predicate_of_another,
    spliced_name,
)
from otel_rt4chart.verify.local.roles import (
    converse_of_same,
    exchanged_arguments,
    exchanged_ends,
    other_comparison,
)
from otel_rt4chart.verify.local.scope import (
    excluded_word,
    one_of_many,
    opposed_bound,
    opposed_by_word,
    other_default,
    other_frequency,
    other_multiple,
    other_negation,
    other_price,
    reversed_condition,
)
from otel_rt4chart.verify.local.verdict import contradicted_by, passage_name

_CHECKS: tuple[Callable[[ComparedClaim], StructuralDoubt | None], ...] = (
    opposed_word,
    opposed_bound,
    excluded_word,
    exchanged_arguments,
    exchanged_ends,
    other_force,
    other_multiple,
    other_frequency,
    other_default,
    other_negation,
    other_subject,
    other_price,
    reversed_condition,
    one_of_many,
    reversed_order,
    converse_of_same,
    other_comparison,
    spliced_name,
    names_apart,
    opposed_by_word,
    listed_words,
    other_in_place,
    predicate_of_another,
)


# Of 641 claims that `local` called supported (training rows, plain cases, the demo, answers about
# README files), 10 of 111 wrong ones and 3 of 530 right ones had a stray word, this much of their
# words in the passages, and less than this confidence. Where fewer words are, they are paraphrased.
_CERTAIN, _SAID = 0.7, 0.7


def doubt_entailed(
    judgement: Judgement, reading: ClaimReading, sentences: Sequence[Sentence]
) -> Judgement:
    """An entailed claim is undecided where a structure sets it and the passages apart.

    One of which the judge is not very certain also where the passages have its words, but one of
    them only apart from the rest.
    """
    if judgement.label is not Label.ENTAILED:
        return judgement
    reason = _apart_reason(reading, sentences) or _stray_reason(judgement, reading)
    return Judgement(Label.UNDECIDED, reason=reason) if reason else judgement


def _apart_reason(reading: ClaimReading, sentences: Sequence[Sentence]) -> str:
    doubt = find_doubt(reading)
    if doubt is None:
        return ""
    sentence = sentences[doubt.sentence]
    verb = "says" if doubt.found in sentence.text else "gives"  # a table is read in other words
    return f"not sure: {passage_name(sentence)} {verb} “{doubt.found}”, the claim “{doubt.claimed}”"


def _stray_reason(judgement: Judgement, reading: ClaimReading) -> str:
    if (judgement.confidence or 0.0) >= _CERTAIN or reading.alignment.coverage < _SAID:
        return ""
    stray = stray_word(reading.alignment, reading.context)
    if stray is None:
        return ""
    word = reading.claim.words[stray].text
    return f"not sure: the passages have “{word}” only apart from the rest of the claim"


def deny_baseless(
    judgement: Judgement, reading: ClaimReading, sentences: Sequence[Sentence]
) -> Judgement:
    """A baseless claim is contradicted where a structure sets a sentence against it.

    "Norway is served" by "All countries except Norway are served", "Bob founded it in 1999" by
    "Alice founded it in 1999", "voted for the closure" by "voted against the closure". By itself
    such a structure only raises a doubt; here the words, or a network, speak against the claim too.
    """
    if judgement.label is not Label.BASELESS:
        return judgement
    against = next((one.difference for one in _conflicts(reading) if one.is_certain), None)
    if against is None and (doubt := find_doubt(reading)):
        against = SlotDifference("term", "clash", doubt.claimed, doubt.found, doubt.sentence)
    if against is None or not _says_the_rest(reading, against.claimed, against.sentence):
        return judgement
    return contradicted_by([against], sentences, judgement.confidence)


def _says_the_rest(reading: ClaimReading, words: str, at: int) -> bool:
    """True where the sentence has most of the claim beside these words, or where they are all."""
    start = reading.claim.text.find(words)
    places = range(len(reading.claim.words))
    rest = [
        place
        for place, word in enumerate(reading.claim.words)
        if not start <= word.start < start + len(words) and word.stem not in SAY_LITTLE
    ]
    met = matching_positions(reading.alignment.equivalents, reading.context.sentences[at])
    weights = reading.alignment.weights
    held = sum(weights[place] for place in rest or places if met[place])
    return held >= _MOST * sum(weights[place] for place in rest or places)


def find_doubt(reading: ClaimReading) -> StructuralDoubt | None:
    """The first structure that sets the claim and all of its nearest sentences apart."""
    if reading.claim.key in reading.context.keys:
        return None  # a copy
    comparison = compare(reading.claim, reading.alignment, reading.context)
    found = next(filter(None, (check(comparison) for check in _CHECKS)), None)
    return found or rebound_value(comparison, _known_values(reading))


def _known_values(reading: ClaimReading) -> frozenset[str]:
    """The claim's values of which it is known where in the passages they come from."""
    return frozenset(
        one.claimed
        for one in reading.differences
        if one.manner in SETTLED and one.slot in ("number", "date")
    )


_MOST = 0.6  # of the weight of a claim's words
_LIKELY = 0.7  # that a claim is wrong whose number has another unit, or lies out of the range
_POUNDS = frozenset(("£", "lb"))  # which one "pounds" are is a guess


class _Conflict(NamedTuple):
    """The claim's words, those of the sentence, and whether both can hold."""

    difference: SlotDifference
    is_certain: bool


def deny_measures(
    judgement: Judgement, reading: ClaimReading, sentences: Sequence[Sentence]
) -> Judgement:
    """An entailed claim is contradicted where its number has another unit, or is out of a range.

    "25 MB" for "25 GB", "less than 3 days" for "3 to 5 days". It is undecided where a part of the
    range agrees with it: "at most 4 days".
    """
    if judgement.label is not Label.ENTAILED or reading.claim.key in reading.context.keys:
        return judgement
    found = list(_conflicts(reading))
    if not found:
        return judgement
    found.sort(key=lambda one: not one.is_certain)
    one, is_certain = found[0]
    if is_certain:
        confidence = max(_LIKELY, 1.0 - (judgement.confidence or 0.0))
        return contradicted_by([one], sentences, confidence)
    name = passage_name(sentences[one.sentence])
    reason = f"not sure: {name} says “{one.found}”, the claim “{one.claimed}”"
    return Judgement(Label.UNDECIDED, reason=reason)


def _conflicts(reading: ClaimReading) -> Iterator[_Conflict]:
    for find in (_other_units, _other_signs, _other_bounds, _widened_values, _other_codes):
        yield from find(reading)


_Told = list[tuple[int, Quantity]]


def _told(reading: ClaimReading) -> _Told:
    """The quantities of the aligned sentences, with the positions of these."""
    sentences = reading.context.sentences
    return [(at, one) for at in reading.alignment.sentences for one in sentences[at].quantities]


def _other_units(reading: ClaimReading) -> Iterator[_Conflict]:
    """`180 °F` where the sentences have nothing but `180 °C`."""
    claim, told = reading.claim, _told(reading)
    coded = {one.start for one in claim.identifiers}
    for own in claim.quantities:
        if not is_measure(own.unit) or own.start in coded:
            continue
        known = [*reading.context.quantities.like(own), *(one for _, one in told)]
        if any(one.base[0] == own.base[0] and values_agree(own, one) for one in known):
            continue
        for at, one in told:
            is_other = is_measure(one.unit) and one.unit != own.unit
            if is_other and one.value == own.value and {own.unit, one.unit} != _POUNDS:
                # "200 g of flour and 100 ml of milk" sets its grams against 100 g.
                same = (pair for pair in told if pair[1].base[0] == own.base[0])
                at, one = next(same, (at, one))
                found = quantity_text(reading.context.sentences[at], one)
                yield _Conflict(_difference(quantity_text(claim, own), found, at), True)
                break


_NEGATIVE = re.compile(r"(?:(?<![\w)])[-−]|(?P<word>\bminus\s))[$€£]?$", re.IGNORECASE)


def _other_signs(reading: ClaimReading) -> Iterator[_Conflict]:
    """`-18 °C` where the sentences have nothing but `18 °C`, or the reverse."""
    claim, sentences = reading.claim, reading.context.sentences
    for own in claim.quantities:
        same = [
            (at, one)
            for at, one in _told(reading)
            if one.base[0] == own.base[0] and values_agree(own, one)
        ]
        is_negative = _is_negative(claim, own)
        if same and all(_is_negative(sentences[at], one) != is_negative for at, one in same):
            at, one = same[0]
            found = _signed_text(sentences[at], one)
            yield _Conflict(_difference(_signed_text(claim, own), found, at), True)


def _is_negative(slots: Slots, one: Quantity) -> bool:
    sign = _NEGATIVE.search(slots.text, 0, one.start)
    # "Refunded minus 15 euros" takes them off; "minus 15 degrees" is below zero.
    return sign is not None and not (sign["word"] and one.unit in SIGNS)


def _signed_text(slots: Slots, one: Quantity) -> str:
    sign = _NEGATIVE.search(slots.text, 0, one.start)
    return slots.text[sign.start() if sign else one.start : one.unit_end].strip()


def _difference(claimed: str, found: str, at: int) -> SlotDifference:
    return SlotDifference("number", "clash", claimed, found, at)


def _other_bounds(reading: ClaimReading) -> Iterator[_Conflict]:
    """`Less than 3 days` or `at most 4 days` for `3 to 5 days`; `at least 3` for `up to 3`."""
    claim, sentences = reading.claim, reading.context.sentences
    for family in dict.fromkeys(one.base[0] for one in claim.quantities):
        for own in quantity_limits(claim, family):
            if (own.low is None) == (own.high is None):
                continue
            limits = [
                (at, limit)
                for at in reading.alignment.sentences
                for limit in quantity_limits(sentences[at], family)
            ]
            if not limits or _is_said_plainly(reading, own, family, limits):
                continue
            found = [(at, limit, _relation(own, limit)) for at, limit in limits]
            if any(relation == "within" for _, _, relation in found):
                continue
            at, limit, relation = found[0]
            is_range = limit.low is not None and limit.high is not None
            words = sentences[at].text[limit.start : limit.end]
            claimed = claim.text[own.start : own.end].strip()
            is_certain = is_range and relation == "apart" and not claim.denials
            yield _Conflict(_difference(claimed, words.strip(), at), is_certain)


_OR_MORE = re.compile(r"[+≥≤]|[<>]=|\s+or\s+\w+", re.IGNORECASE)


def _widened_values(reading: ClaimReading) -> Iterator[_Conflict]:
    """`More than 14 days`, `14+ days` or `14-30 days` where the sentences say `14 days`."""
    claim, told = reading.claim, _told(reading)
    for family in dict.fromkeys(one.base[0] for one in claim.quantities):
        plain = [(at, one) for at, one in told if one.base[0] == family]
        if not plain or any(one.bound != "exact" for _, one in plain):
            continue
        if any(quantity_limits(reading.context.sentences[at], family) for at, _ in plain):
            continue
        for own in quantity_limits(claim, family):
            ends = {one[0] for one in (own.low, own.high) if one is not None}
            same = [(at, one) for at, one in plain if one.base[1] in ends]
            if not same or (ends <= {one.base[1] for _, one in plain} and len(ends) > 1):
                continue
            words = claim.text[own.start : own.end]
            is_open = own.is_strict or len(ends) > 1 or _OR_MORE.search(words)
            others = (one for one in plain if one not in same)
            if is_open and not any(own.admits((one.base[1],)) for _, one in others):
                at, one = same[0]
                found = quantity_text(reading.context.sentences[at], one)
                # Writers round "about 14" to "more than 14", so that no label is certain.
                yield _Conflict(_difference(words.strip(), found, at), is_certain=False)


def _is_said_plainly(
    reading: ClaimReading, own: Limit, family: str, limits: Sequence[tuple[int, Limit]]
) -> bool:
    """True where a sentence has a value in the claim's bound that belongs to no limit."""
    for at, one in _told(reading):
        is_limited = any(
            at == where and limit.start <= one.start < limit.end for where, limit in limits
        )
        if not is_limited and one.base[0] == family and own.admits((one.base[1],)):
            return True
    return False


def _relation(own: Limit, told: Limit) -> Literal["within", "apart", "partly"]:
    """How the values of a told limit lie to those that the claim's bound admits."""
    sign = 1.0 if own.high is not None else -1.0
    edge = sign * (own.high or own.low or (0.0,))[0]
    ends = [None if one is None else sign * one[0] for one in (told.low, told.high)]
    first, last = ends if sign > 0 else reversed(ends)
    # "Up to 50" for "up to 40" and the like are compared by their values.
    if last is not None and (first is None or last < edge or (last == edge and _holds(own, told))):
        return "within"
    is_open = own.is_strict or told.is_strict
    if first is not None and (first > edge or (first == edge and is_open)):
        return "apart"
    return "partly"


def _holds(own: Limit, told: Limit) -> bool:
    """True where the end that both limits have is in the claim's one, if it is in the other."""
    return told.is_strict or not own.is_strict


def _other_codes(reading: ClaimReading) -> Iterator[_Conflict]:
    """`Seat 17 A` where the sentences have nothing but `seat 17C`."""
    claimed = labelled_codes(reading.claim.text)
    if not claimed:
        return
    sentences = reading.context.sentences
    told = [
        (at, one)
        for at in reading.alignment.sentences
        for one in labelled_codes(sentences[at].text)
    ]
    for own in claimed:
        rival = next(((at, one) for at, one in told if one.label == own.label), None)
        if rival is not None and not is_code_in(own, (one.text for one in sentences)):
            at, other = rival
            found = sentences[at].text[other.start : other.end]
            written = reading.claim.text[own.start : own.end]
            yield _Conflict(_difference(written, found, at), True)
