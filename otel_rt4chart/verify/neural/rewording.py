"""A claim with its values, and some words, as the passages write them, for the network to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.verify.language.agreement import is_same_value
from otel_rt4chart.verify.language.dates import Moment
from otel_rt4chart.verify.language.identifiers import Identifier
from otel_rt4chart.verify.language.slots import Slots, quantity_text, read_slots
from otel_rt4chart.verify.language.thesaurus import opposites
from otel_rt4chart.verify.language.tokens import Token
from otel_rt4chart.verify.language.units import UNITS
from otel_rt4chart.verify.language.values import Quantity
from otel_rt4chart.verify.local.features import ClaimReading

# "A week" is one here; in "twice a week" it says how often.
_A_UNIT = re.compile(
    r"\b(?:for|within|after|in|of|than|lasts?|takes?)\s+(?P<one>an?)\s+"
    r"(?P<unit>hour|day|week|fortnight|month|quarter|year)\b",
    re.IGNORECASE,
)
_PRECISE = 7  # digits of a number that the passages may write with other separators
_AT = re.compile(r"\b(?:at|in|on)\s+(?:the\s+)?$", re.IGNORECASE)


class _Rewording(NamedTuple):
    """Words of the claim, `text[start:end]`, and the passage's words for the same value."""

    start: int
    end: int
    words: str


def in_passage_words(reading: ClaimReading) -> str:
    """The claim with each value as the passages write it: `2 g` for `2,000 mg`.

    A value within a limit is read as the limit: what is true of refunds under $20 is true of $15.
    """
    told = [reading.context.sentences[at] for at in reading.alignment.sentences]
    admitted = {one.claimed: one.found for one in reading.differences if one.manner == "admitted"}
    text = reading.claim.text
    for one in sorted(_rewordings(reading.claim, told, admitted), reverse=True):
        text = text[: one.start] + one.words + text[one.end :]
    return text


def _rewordings(
    claim: Slots, told: Sequence[Slots], admitted: Mapping[str, str]
) -> Iterator[_Rewording]:
    coded = {one.start for one in claim.identifiers}
    for identifier in claim.identifiers:
        yield from _same_identifier(identifier, told)
    for quantity in (one for one in claim.quantities if one.start not in coded):
        written = quantity_text(claim, quantity)
        if _has_words_between(claim, quantity):
            continue
        if written in admitted:
            yield _Rewording(quantity.start, quantity.unit_end, admitted[written])
        elif not any(_stands_in(written, slots.text) for slots in told):
            yield from _equal_quantity(claim, quantity, told)
    for match in _A_UNIT.finditer(claim.text):
        (own,) = read_slots(f"one {match['unit']}").quantities
        for one in _equal_quantity(claim, own, told):
            yield one._replace(start=match.start("one"), end=match.end("unit"))
    for word in claim.words:
        yield from _undenied(word, told)
    for moment in claim.moments:
        written = claim.text[moment.start : moment.end]
        if written in admitted:
            lead = _AT.search(claim.text[: moment.start])
            start = lead.start() if lead else moment.start
            yield _Rewording(start, moment.end, admitted[written])
        elif not any(_stands_in(written, slots.text) for slots in told):
            yield from _equal_moment(moment, told)


def _undenied(own: Token, told: Sequence[Slots]) -> Iterator[_Rewording]:
    """`easy` for `uncomplicated`: what "un-" denies is the opposite of a passage's word."""
    same = opposites(own.stem[2:]) if own.norm.startswith("un") else frozenset[str]()
    for slots in told:
        if own.stem in slots.positions:
            return
        for other in slots.words:
            if other.stem in same and not other.norm.startswith("un"):
                yield _Rewording(own.start, own.end, other.text)
                return


def _stands_in(written: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(written)}(?!\w)", text, re.IGNORECASE) is not None


def _equal_quantity(claim: Slots, own: Quantity, told: Sequence[Slots]) -> Iterator[_Rewording]:
    """The first quantity with exactly this value, in other words or over another period."""
    for slots in told:
        for other in slots.quantities:
            is_rate = bool(own.period and other.period and own.period != other.period)
            is_exact = own.digits >= _PRECISE and own.plain == other.plain
            is_convertible = is_rate or own.unit in UNITS or is_exact
            if not is_convertible or own.unit == "%" or not is_same_value(own, other):
                continue
            periods = [_period_noun(claim, own), _period_noun(slots, other)]
            if _has_words_between(slots, other) or (is_rate and "" in periods):
                continue
            words = slots.text[other.start : other.unit_end]
            yield _Rewording(own.start, own.unit_end, words)
            if is_rate:
                yield _Rewording(own.period_end - len(periods[0]), own.period_end, periods[1])
            return


def _same_identifier(own: Identifier, told: Sequence[Slots]) -> Iterator[_Rewording]:
    for slots in told:
        same = [
            *((one.start, one.end) for one in slots.identifiers if one.key == own.key),
            *((one.start, one.end) for one in slots.identifiers if own.is_short_for(one)),
            *((one.start, one.end) for one in slots.quantities if one.plain == own.key),
        ]
        if same:
            yield _Rewording(own.start, own.end, slots.text[slice(*same[0])])
            return


def _period_noun(slots: Slots, one: Quantity) -> str:
    """`month` in `$5 a month`; "" for `monthly`."""
    is_noun = slots.text[: one.period_end].lower().endswith(one.period)
    return one.period if one.period and is_noun else ""


def _has_words_between(slots: Slots, one: Quantity) -> bool:
    """True for `10 working days`, which are not 10 days."""
    return len(slots.text[one.end : one.unit_end].split()) > 1


def _equal_moment(own: Moment, told: Sequence[Slots]) -> Iterator[_Rewording]:
    for slots in told:
        for other in slots.moments:
            if other.parts == own.parts:
                yield _Rewording(own.start, own.end, slots.text[other.start : other.told_end])
                return
