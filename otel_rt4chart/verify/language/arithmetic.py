"""Numbers and dates of a claim that may follow from those of the passages: limits, arithmetic."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations
from typing import Literal, NamedTuple

from otel_rt4chart.verify.language.cases import is_case, states_limit
from otel_rt4chart.verify.language.dates import Moment
from otel_rt4chart.verify.language.limits import (
    Limit,
    moment_limits,
    ordered_parts,
    quantity_limits,
)
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.units import UNIT_FAMILIES
from otel_rt4chart.verify.language.values import Quantity

_MAX_NUMBERS = 8  # of near sentences; more are a table, in which some numbers fit by chance
_DAY = 1440  # minutes
_NO_LEAP_YEAR = 2001
# Words that speak of parts of one whole, of a remainder, and of one thing among several.
_TOTAL = re.compile(
    r"\b(?:together|total(?:s|ling|ing)?|altogether|combined|overall|in\s+all|sum|plus|extra"
    r"|additional(?:ly)?|another|on\s+top|both|whole|further)\b",
    re.IGNORECASE,
)
_REST = re.compile(
    r"\b(?:more|less|fewer|longer|shorter|cheaper|dearer|sav(?:es?|ing)|difference|remain\w*|left"
    r"|older|younger|later|earlier|taller|smaller|increase[sd]?|decrease[sd]?|rose|risen|fell"
    r"|fallen|dropped|reduced|extra|between|net|after|discount|off|change|gap|rest|others?)\b",
    re.IGNORECASE,
)
# `30 g lighter`, `5 euros more`
_OFFSET = re.compile(
    r"\d\S*\s+(?:\w+\s+){0,2}(?:more|less|fewer|lighter|heavier|longer|shorter|cheaper|dearer|taller"
    r"|older|younger|later|earlier|higher|lower|bigger|smaller|faster|slower|extra)\b",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"\b(?:each|every|per|apiece|times|twice|daily|weekly|monthly|yearly|hourly|annually"
    r"|an?\s+(?:hour|day|night|week|month|quarter|year|person|head|piece))\b|[x×*]\s?\d",
    re.IGNORECASE,
)
# A sentence with one of these goes on about what the limit of the sentence before leaves out.
_BEYOND = re.compile(
    r"\b(?:larger|bigger|smaller|longer|shorter|later|earlier|older|younger|heavier|lighter|higher"
    r"|lower|greater|more|others?|otherwise|beyond|above|after)\b(?!\s+than\b)",
    re.IGNORECASE,
)
# Periods that a rate is turned into, by those who count roughly: five working days a week.
_ROUGH = (4.0, 5.0, 7.0, 12.0, 30.0, 50.0, 52.0, 365.0, 24.0, 8.0, 22.0)


SourceManner = Literal["admitted", "narrowed", "beyond", "implied"]


class Source(NamedTuple):
    """The words of a sentence, by its position in the context, from which a value may follow."""

    sentence: int
    words: str
    manner: SourceManner = "implied"


class _Number(NamedTuple):
    """A quantity with the sentence that has it; -1 is the claim itself."""

    sentence: int
    quantity: Quantity


Told = Sequence[tuple[int, Slots]]


def source_of_quantity(
    claim: Slots, own: Quantity, told: Told, before: Slots | None
) -> Source | None:
    """Where the claim's number may follow from; `told` are the near sentences, best first.

    `before` is the sentence in front of the best one.
    """
    if found := _admitting(claim, own, told, before):
        return found
    numbers = [_Number(at, one) for at, slots in told for one in slots.quantities]
    if len(numbers) > _MAX_NUMBERS or own.unit == "#":
        return None
    texts = dict(told)
    others = [_Number(-1, one) for one in claim.quantities if one != own]
    joined = " ".join((claim.text, *(slots.text for _, slots in told)))
    for result in _results(own, numbers, others, claim.text, joined):
        known = [one for one in result.parts if one.sentence >= 0]
        if _is_equal(own.base[1], result.value):
            at = known[0].sentence
            parts = [one.quantity for one in known if one.sentence == at]
            return Source(at, _span(texts[at], parts))
    return _between_moments(own, told)


def _span(slots: Slots, parts: Sequence[Quantity | Moment]) -> str:
    """The text from the first to the last of these values."""
    start = min(one.start for one in parts)
    end = max(one.unit_end if isinstance(one, Quantity) else one.end for one in parts)
    return slots.text[start:end]


def _admitting(claim: Slots, own: Quantity, told: Told, before: Slots | None) -> Source | None:
    """A limit that the claim's number keeps."""
    if own.bound not in ("exact", "about") or states_limit(claim.text, own.start, is_moment=False):
        return None
    family, value = own.base
    for at, slots in told:
        for limit in quantity_limits(slots, family):
            if limit.admits((value,)):
                words = slots.text[limit.start : limit.end]
                return Source(at, words, _manner(claim.text, own.start, own.unit_end))
    return _beyond(told, quantity_limits(before, family) if before else (), (value,))


def speaks_of_others(text: str) -> bool:
    """True for a sentence on what the limit of the sentence before leaves out."""
    return _BEYOND.search(text) is not None


def _manner(claim: str, start: int, end: int) -> SourceManner:
    return "admitted" if is_case(claim, start, end) else "narrowed"


def end_of_range(claim: Slots, own: Quantity, told: Told) -> Source | None:
    """The range that the claim's number ends, where it stands for the range: `takes 5 days`."""
    text, (family, value) = claim.text, own.base
    if own.bound != "exact" or states_limit(text, own.start, is_moment=False):
        return None
    if any(limit.low and limit.high for limit in quantity_limits(claim, family)):
        return None
    for at, slots in told:
        for limit in quantity_limits(slots, family):
            if limit.low and limit.high and (value,) in (limit.low, limit.high):
                return Source(at, slots.text[limit.start : limit.end], "narrowed")
    return None


def beyond_limit(slots: Slots, own: Quantity | Moment, claim: Slots) -> str:
    """The words of the limit that leaves out the case of the claim; "" where there is none."""
    end = own.unit_end if isinstance(own, Quantity) else own.end
    if not is_case(claim.text, own.start, end):
        return ""
    if isinstance(own, Quantity):
        value: tuple[float, ...] = (own.base[1],)
        limits = list(quantity_limits(slots, own.base[0]))
    else:
        kind, value = ordered_parts(own)
        limits = list(moment_limits(slots, kind))
    if not limits or any(limit.admits(value) for limit in limits):
        return ""
    return slots.text[limits[0].start : limits[0].end]


def _beyond(told: Told, limits: Iterable[Limit], value: tuple[float, ...]) -> Source | None:
    """`Larger refunds …` after a sentence on refunds of less than some sum."""
    if not told:
        return None
    at, slots = told[0]
    word = _BEYOND.search(slots.text)
    if word and any(not limit.admits(value) for limit in limits):
        return Source(at, word.group())
    return None


class _Result(NamedTuple):
    """A value in base units that follows from these numbers."""

    value: float
    parts: tuple[_Number, ...]


def _results(
    own: Quantity, numbers: list[_Number], others: list[_Number], claim: str, joined: str
) -> Iterator[_Result]:
    """All that can be computed in the claim's unit, as far as the words allow for it."""
    alike = [one for one in numbers if _is_alike(own, one.quantity)]
    if _EACH.search(joined):
        yield from _products(alike, [*numbers, *others])
        yield from _rates(own, alike)
    yield from _shares(alike, numbers)
    is_offset = _OFFSET.search(joined) is not None
    if is_offset or _TOTAL.search(joined):
        for count in (2, 3):
            for parts in combinations(alike, count):
                yield _Result(sum(one.quantity.base[1] for one in parts), parts)
    if is_offset or _REST.search(claim):
        for one, other in permutations(alike, 2):
            yield _Result(one.quantity.base[1] - other.quantity.base[1], (one, other))


def _products(alike: list[_Number], factors: list[_Number]) -> Iterator[_Result]:
    """`Two tablets three times a day`; of a number of hours or days, that number is the factor."""
    for one in alike:
        for other in factors:
            if other != one:
                yield _Result(one.quantity.base[1] * other.quantity.value, (one, other))


def _rates(own: Quantity, alike: list[_Number]) -> Iterator[_Result]:
    """A rate over another period, as those turn it who count roughly."""
    for one in alike:
        if own.period and one.quantity.period not in ("", own.period):
            for factor in _ROUGH:
                yield _Result(one.quantity.base[1] * factor, (one,))
                yield _Result(one.quantity.base[1] / factor, (one,))


def _shares(alike: list[_Number], numbers: list[_Number]) -> Iterator[_Result]:
    """A share in per cent of another number, what remains without it, and both together."""
    for one, part in permutations(numbers, 2):
        if part.quantity.unit == "%" and one in alike and one.quantity.unit != "%":
            share = part.quantity.value / 100
            for factor in (share, 1 - share, 1 + share):
                yield _Result(one.quantity.base[1] * factor, (one, part))


def _is_alike(own: Quantity, other: Quantity) -> bool:
    """True where the two can be added: of one family, or counts of something."""
    is_count = not {own.base[0], other.base[0]} & UNIT_FAMILIES
    return own.base[0] == other.base[0] or is_count


def _is_equal(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=0.005)


def _between_moments(own: Quantity, told: Told) -> Source | None:
    """Hours between two times of day, days between two dates, years between two years."""
    family, value = own.base
    for at, slots in told:
        for first, second in combinations(slots.moments[:_MAX_NUMBERS], 2):
            if first.minutes is not None and second.minutes is not None and family == "time":
                minutes = (second.minutes - first.minutes) % _DAY
                is_met = _is_equal(value, minutes * 60.0)
            elif family == "time" and (days := _days_between(first, second)):
                is_met = _is_equal(value, days * _DAY * 60.0)
            elif first.year is not None and second.year is not None:
                years = abs(second.year - first.year)
                is_met = own.unit in ("year", "") and round(
                    value / 12 if family == "months" else value
                ) in (years, years - 1)
            else:
                continue
            if is_met:
                return Source(at, _span(slots, (first, second)))
    return None


def _days_between(first: Moment, second: Moment) -> int:
    """The days from one date to the other, of the same year where none is told; else 0."""
    year = first.year or second.year or _NO_LEAP_YEAR
    days = [_day_number(one, one.year or year) for one in (first, second)]
    return abs(days[1] - days[0]) if all(days) else 0


def _day_number(one: Moment, year: int) -> int:
    """The days since 1970; 0 where the day or the month is not told, or there is no such day."""
    if one.month is None or one.day is None or one.day > calendar.monthrange(year, one.month)[1]:
        return 0
    return calendar.timegm((year, one.month, one.day, 0, 0, 0)) // (_DAY * 60)


def source_of_moment(claim: Slots, own: Moment, told: Told, before: Slots | None) -> Source | None:
    """Where the claim's date or time may follow from."""
    kind, parts = ordered_parts(own)
    if not states_limit(claim.text, own.start, is_moment=True):
        for at, slots in told:
            for limit in moment_limits(slots, kind):
                if limit.admits(parts):
                    words = slots.text[limit.start : limit.end]
                    return Source(at, words, _manner(claim.text, own.start, own.end))
        limits = moment_limits(before, kind) if before else ()
        if found := _beyond(told, limits, parts):
            return found
    return _shifted(claim, own, told)


def _shifted(claim: Slots, own: Moment, told: Told) -> Source | None:
    """A time or year with a number of hours or years before or after it."""
    numbers = [one for _, slots in told for one in slots.quantities] + list(claim.quantities)
    for at, slots in told:
        for other in slots.moments:
            for one in numbers if len(numbers) <= _MAX_NUMBERS else ():
                if own.minutes is not None and other.minutes is not None and one.base[0] == "time":
                    shift = one.base[1] / 60
                    gap = abs(own.minutes - other.minutes)
                    is_met = any(_is_equal(shift, by) for by in (gap, _DAY - gap))
                elif own.year is not None and other.year is not None and one.base[0] == "months":
                    is_met = abs(own.year - other.year) == one.base[1] / 12
                else:
                    continue
                if is_met:
                    return Source(at, slots.text[other.start : other.end])
    return None
