"""How often something happens: `daily`, `twice a day`, `every 12 hours`, in times a day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.units import UNITS

_DAYS = {"hour": 1 / 24, "day": 1.0, "night": 1.0, "week": 7.0, "fortnight": 14.0,
         "month": 30.4375, "quarter": 91.3125, "year": 365.25}  # fmt: skip
_SECONDS_OF_DAY, _DAYS_OF_MONTH = 86400.0, 30.4375
_ADVERBS = {"hourly": "hour", "daily": "day", "nightly": "night", "weekly": "week",
            "fortnightly": "fortnight", "monthly": "month", "quarterly": "quarter",
            "yearly": "year", "annually": "year"}  # fmt: skip
_EVERY = re.compile(rf"\b(?:every|each)\s+(?P<noun>{'|'.join(_DAYS)})\b", re.IGNORECASE)
_ADVERB = re.compile(rf"\b(?:{'|'.join(_ADVERBS)})\b", re.IGNORECASE)
_LEAD = re.compile(r"\bevery\s+$", re.IGNORECASE)
_LONGEST_LEAD = 20  # characters, with the spaces


class Frequency(NamedTuple):
    """`times` a day, as `text[start:end]` says it."""

    start: int
    end: int
    times: float


def frequencies(slots: Slots) -> Iterator[Frequency]:
    """The frequencies of a text: those with a number, then those without one."""
    text, taken = slots.text, set[int]()
    for one in slots.quantities:
        family, size = one.base
        lead = None
        if size and family in ("time", "months"):
            lead = _LEAD.search(text, max(0, one.start - _LONGEST_LEAD), one.start)
        if lead:
            days = size / _SECONDS_OF_DAY if family == "time" else size * _DAYS_OF_MONTH
            yield Frequency(lead.start(), one.unit_end, 1 / days)
        elif one.period and one.unit not in UNITS and one.unit != "%":
            yield Frequency(one.start, one.period_end, one.value / _DAYS[one.period])
            taken.update(range(one.start, one.period_end))
    for match in (*_EVERY.finditer(text), *_ADVERB.finditer(text)):
        if match.start() not in taken:
            noun = match.groupdict().get("noun") or _ADVERBS[match.group().lower()]
            yield Frequency(match.start(), match.end(), 1 / _DAYS[noun.lower()])
