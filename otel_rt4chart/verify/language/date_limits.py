"""Limits and ranges of dates and times: `before 1 May`, `from 9 am to 6 pm`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from otel_rt4chart.verify.language.dates import Moment
from otel_rt4chart.verify.language.limits import LEAD, Limit, joins_range
from otel_rt4chart.verify.language.slots import Slots

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
