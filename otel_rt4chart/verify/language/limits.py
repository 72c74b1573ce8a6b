"""Limits and ranges in a text, and what they admit: `within one hour`, `from 9 am to 6 pm`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from otel_rt4chart.verify.language.dates import Moment
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.values import Quantity

_WITHIN = re.compile(
    r"\b(?:within|inside|in\s+under|limited\s+to|max(?:imum)?(?:\s+of)?)\s+(?:the\s+(?:first\s+)?)?$",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"(?:(?:less|more|fewer|longer|shorter|greater)\s+than|under|over|below|above|exceed\w*|[<>])"
    r"\s*[$€£¥₹]?\s*$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:(?:\bno\s+|\bnot\s+)?(?:more|less|fewer|longer|shorter|greater)\s+than|\bat\s+(?:least|most)"
    r"|\bup\s+to|\bover|\babove|\bunder|\bbelow|\ba\s+(?:minimum|maximum)\s+of|[<>]=?|[≤≥])\s*$",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"(?:\s+\w+){0,2}\s+(?:or|and)\s+\w+|\s?\+")
_DENIED = re.compile(r"\b(?:no|not|never|cannot)\b|n['’]t\b", re.IGNORECASE)
_JOINS_RANGE = re.compile(
    r"\s*(?:to|and|until|till|through|[-–—])\s*(?:the\s+)?[$€£¥₹]?", re.IGNORECASE
)
_OPENS_RANGE = re.compile(r"\b(?:from|between)\s+(?:the\s+)?[$€£¥₹]?$", re.IGNORECASE)
# "Rose from 800 to 880" is no range.
_CHANGES = re.compile(
    r"\b(?:r(?:ose|isen?|ises)|increas\w*|gr[eo]w\w*|f[ae]ll\w*|drop\w*|rais\w*|chang\w*|cut|reduc\w*"
    r"|went|go(?:es)?|jump\w*|climb\w*|declin\w*|mov\w*)\s+(?:\w+\s+){0,3}from\s+[$€£¥₹]?$",
    re.IGNORECASE,
)
LEAD = 32  # characters before a value in which the word that limits it stands
_RANGE_LEAD = 64  # and in which a range is opened; "increased" may stand three words before


@dataclass(frozen=True, slots=True)
class Limit:
    """What stands in `text[start:end]` of a sentence, and the values that it admits."""

    start: int
    end: int
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    is_strict: bool = False

    def admits(self, value: tuple[float, ...]) -> bool:
        """True where the value lies within the limits, as far as its parts can be compared."""
        is_above = self.low is None or self._is_ordered(self.low, value)
        is_below = self.high is None or self._is_ordered(value, self.high)
        if self.low is not None and self.high is not None and self.high < self.low:
            return is_above or is_below  # a range over midnight or the weekend
        return is_above and is_below

    def _is_ordered(self, left: tuple[float, ...], right: tuple[float, ...]) -> bool:
        """True for left before right; "2023" and "1 May 2023" cannot be ordered."""
        shared = min(len(left), len(right))
        if left[:shared] != right[:shared]:
            return left[:shared] < right[:shared]
        return len(left) == len(right) and not self.is_strict


def quantity_limits(slots: Slots, unit_family: str) -> tuple[Limit, ...]:
    """The limits on quantities of a family of units, in base units; those of late are cached."""
    return _cached_limits(slots.text, unit_family)


@lru_cache(maxsize=256)
def _cached_limits(text: str, unit_family: str) -> tuple[Limit, ...]:
    return tuple(_limits(read_slots(text), unit_family))


def _limits(slots: Slots, unit_family: str) -> Iterator[Limit]:
    text, before = slots.text, None
    for one in slots.quantities:
        is_range = before is not None and _is_range(text, before, one)
        if is_range and before is not None and one.base[0] == unit_family:
            low = before.value * (one.base[1] / one.value if one.value else 1.0)
            yield Limit(before.start, one.unit_end, (low,), (one.base[1],))
        elif one.base[0] == unit_family:
            yield from _limit_of(text, one)
        before = one


def _is_range(text: str, low: Quantity, high: Quantity) -> bool:
    if low.unit not in ("", high.unit):
        return False
    is_change = _CHANGES.search(text[max(0, low.start - _RANGE_LEAD) : low.start])
    return not is_change and joins_range(text, low.start, text[low.unit_end : high.start])


def joins_range(text: str, start: int, between: str) -> bool:
    """True for what stands between the ends of a range that starts there; "and" after "between"."""
    if _JOINS_RANGE.fullmatch(between) is None:
        return False
    lead = text[max(0, start - _RANGE_LEAD) : start]
    return "and" not in between.lower() or _OPENS_RANGE.search(lead) is not None


def _limit_of(text: str, one: Quantity) -> Iterator[Limit]:
    lead = text[max(0, one.start - LEAD) : one.start]
    strict = _STRICT.search(lead)
    is_strict = bool(strict) and not _DENIED.search(lead)
    words = _WITHIN.search(lead) or _BOUND.search(lead)
    behind = None if words else _BEHIND.match(text, one.end)
    start = one.start - len(lead) + words.start() if words else one.start
    end = behind.end() if behind else one.unit_end
    if one.bound == "at_most" or _WITHIN.search(lead):
        yield Limit(start, end, None, (one.base[1],), is_strict)
    elif one.bound == "at_least":
        yield Limit(start, end, (one.base[1],), None, is_strict)


UNTIL = re.compile(
    r"\b(?:before|prior\s+to|earlier\s+than|ahead\s+of|by|until|till|up\s+to"
    r"|no\s+later\s+than|not\s+later\s+than|(?:ends?|expires?)\s+(?:on|in|at))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
FROM = re.compile(
    r"\b(?:after|later\s+than|from|since|as\s+of|starting(?:\s+on)?|no\s+earlier\s+than"
    r"|not\s+before|(?:starts?|begins?)\s+(?:on|in|at))\s+(?:the\s+)?$",
    re.IGNORECASE,
)


def ordered_parts(one: Moment) -> tuple[str, tuple[float, ...]]:
    """The kind of a date or time, and its parts such that an earlier one is less."""
    if one.year is not None:
        parts = (one.year, one.month, one.day)
        return "date", tuple(float(part) for part in parts if part is not None)
    if one.minutes is not None:
        return "clock", (float(one.minutes),)
    if one.month is not None:
        return "month", tuple(float(part) for part in (one.month, one.day) if part is not None)
    return "weekday", (float(one.weekday or 0),)


def moment_limits(slots: Slots, kind: str) -> Iterator[Limit]:
    """The limits on dates and times of this kind."""
    text = slots.text
    moments = [one for one in slots.moments if ordered_parts(one)[0] == kind]
    ranges = [
        (low, high)
        for low, high in pairwise(moments)
        if joins_range(text, low.start, text[low.end : high.start])
    ]
    for low, high in ranges:
        yield Limit(low.start, high.end, ordered_parts(low)[1], ordered_parts(high)[1])
    for one in moments:
        if any(one in pair for pair in ranges):
            continue
        first, parts = max(0, one.start - LEAD), ordered_parts(one)[1]
        lead = text[first : one.start]
        if limit := UNTIL.search(lead):
            is_strict = limit.group().split()[0].lower() in ("before", "prior", "earlier", "ahead")
            yield Limit(first + limit.start(), one.end, None, parts, is_strict)
        elif limit := FROM.search(lead):
            is_strict = limit.group().split()[0].lower() in ("after", "later")
            yield Limit(first + limit.start(), one.end, parts, None, is_strict)
