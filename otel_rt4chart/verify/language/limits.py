"""Limits and ranges in a text, and what they admit: `within one hour`, `3 to 5 days`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from otel_rt4chart.verify.language.dates import Moment
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.values import Quantity

_WITHIN = re.compile(
    r"\b(?:within|inside|in\s+under|limited\s+to|max(?:imum)?(?:\s+of)?)\s+(?:the\s+(?:first\s+)?)?$",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"(?:(?:less|more|fewer|longer|shorter|greater)\s+than|under|over|below|above|exceed\w*)"
    r"\s*[$€£¥₹]?\s*$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:(?:\bno\s+|\bnot\s+)?(?:more|less|fewer|longer|shorter|greater)\s+than|\bat\s+(?:least|most)"
    r"|\bup\s+to|\bover|\babove|\bunder|\bbelow|\ba\s+(?:minimum|maximum)\s+of)\s*$",
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
_UNTIL = re.compile(
    r"\b(?:before|prior\s+to|earlier\s+than|ahead\s+of|by|until|till|up\s+to"
    r"|no\s+later\s+than|not\s+later\s+than|(?:ends?|expires?)\s+(?:on|in|at))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\b(?:after|later\s+than|from|since|as\s+of|starting(?:\s+on)?|no\s+earlier\s+than"
    r"|not\s+before|(?:starts?|begins?)\s+(?:on|in|at))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_BEFORE = 32  # characters before a value in which the word that limits it stands
# With one of these, or with an edge right before its value, a claim states a limit itself.
_STATES_LIMIT = re.compile(
    r"\b(?:limit|limited|maximum|max|minimum|min|deadline|ceiling|cap|threshold|latest|earliest"
    r"|at\s+most|at\s+least|no\s+more|no\s+less|only)\b",
    re.IGNORECASE,
)
_STATES_EDGE = re.compile(
    r"\b(?:(?<!is\s)(?<!are\s)opens?|closes?|starts?|begins?|ends?|finish(?:es)?|expires?|due|lasts?|valid|runs?"
    r"|for|within|until|till|by|from|to|have|has|had|up)"
    r"(?:\s+(?:at|on|in|for|the|a|an|until|about))*\s+[$€£¥₹]?$",
    re.IGNORECASE,
)


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


_CASE = re.compile(
    r"\s*(?:an?|any|every|each|all|those|no|for|if|when|at|on|in|whoever|anyone|someone)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\b(?:that|who|which|if|when)\b", re.IGNORECASE)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|can|could|may|might|must|will|would|shall|should"
    r"|gets?|goes|go|pays?|needs?|receives?|costs?|comes?)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\s+(?:after|later|into|before|earlier|old)\b", re.IGNORECASE)


def is_case(text: str, start: int, end: int) -> bool:
    """True where a claim's value belongs to the case that it speaks of, not to what it says of it.

    `A refund of $35 goes to your card`, `40 minutes after it was placed`.
    """
    if _SINCE.match(text, end):
        return True
    lead = text[:start]
    is_said = bool(_FINITE.search(lead)) and not _RELATIVE.search(lead)
    return bool(_CASE.match(text)) and not is_said and bool(_FINITE.search(text, end))


def states_limit(text: str, start: int, *, is_moment: bool) -> bool:
    """True where the value at this place of a claim is a limit, an edge or a whole length."""
    lead = text[:start]
    is_edge = _STATES_EDGE.search(lead) or (
        is_moment and (_UNTIL.search(lead) or _FROM.search(lead))
    )
    return bool(is_edge or _STATES_LIMIT.search(text))


def quantity_limits(slots: Slots, unit_family: str) -> Iterator[Limit]:
    """The limits on quantities of a family of units, in base units."""
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
    between = text[low.unit_end : high.start]
    is_joined = _JOINS_RANGE.fullmatch(between) is not None
    is_and = "and" in between.lower()
    is_like = low.unit in ("", high.unit)
    if _CHANGES.search(text[: low.start]):
        return False
    is_open = not is_and or _OPENS_RANGE.search(text[: low.start]) is not None
    return is_joined and is_like and is_open


def _limit_of(text: str, one: Quantity) -> Iterator[Limit]:
    lead = text[max(0, one.start - _BEFORE) : one.start]
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
        if _JOINS_RANGE.fullmatch(text[low.end : high.start])
    ]
    for low, high in ranges:
        yield Limit(low.start, high.end, ordered_parts(low)[1], ordered_parts(high)[1])
    for one in moments:
        if any(one in pair for pair in ranges):
            continue
        first, parts = max(0, one.start - _BEFORE), ordered_parts(one)[1]
        lead = text[first : one.start]
        if limit := _UNTIL.search(lead):
            is_strict = limit.group().split()[0].lower() in ("before", "prior", "earlier", "ahead")
            yield Limit(first + limit.start(), one.end, None, parts, is_strict)
        elif limit := _FROM.search(lead):
            is_strict = limit.group().split()[0].lower() in ("after", "later")
            yield Limit(first + limit.start(), one.end, parts, None, is_strict)
