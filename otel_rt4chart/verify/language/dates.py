"""The dates and times of a text, and when one supports or contradicts another one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

_MONTH_NAMES = """jan january; feb february; mar march; apr april; may; jun june; jul july;
    aug august; sep september sept; oct october; nov november; dec december"""
_MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.split(";"), start=1)
    for name in names.split()
}
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS = {name: number for number, name in enumerate(_WEEKDAY_NAMES.split(), start=1)}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:1[0-9]|20)\d{2}"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])"
_DATE = re.compile(
    rf"\b(?P<iso_year>{_YEAR})-(?P<iso_month>0\d|1[0-2])-(?P<iso_day>[0-3]\d)\b"
    rf"|\b(?P<month_a>{_MONTH})\.?\s+(?P<day_a>{_DAY})(?:st|nd|rd|th)?\b"
    rf"(?:,?\s+(?P<year_a>{_YEAR})\b)?"
    rf"|\b(?P<day_b>{_DAY})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month_b>{_MONTH})\b"
    rf"(?:,?\s+(?P<year_b>{_YEAR})\b)?"
    rf"|\b(?P<month_c>{_MONTH})\.?,?\s+(?:of\s+)?(?P<year_c>{_YEAR})\b"
    rf"|\b(?P<weekday>{'|'.join(_WEEKDAYS)})s?\b"
    rf"|\b(?P<hour>\d{{1,2}})(?::(?P<minute>\d{{2}}))?\s?(?P<half>[ap])(?:m\b|\.m\b\.?)"
    rf"|\b(?P<hour_b>[01]?\d|2[0-3]):(?P<minute_b>[0-5]\d)\b"
    rf"|(?<![\d.,$€£#])\b(?P<year_d>{_YEAR})\b(?![.,]\d|\s?%|-(?!{_YEAR}\b)\d)"
    rf"|\b(?P<month_d>january|february|april|june|july|august|september|october|november"
    rf"|december|(?-i:March|May))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or time in `text[start:end]`; parts that the text does not give are None.

    Of `24 and 31 December`, the first date ends before "and", and all of it at `told_end`.
    """

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    minutes: int | None = None
    told_end: int = 0

    @property
    def parts(self) -> tuple[int | None, ...]:
        """Year, month, day, weekday and minutes since midnight."""
        return (self.year, self.month, self.day, self.weekday, self.minutes)


def moments(text: str) -> tuple[Moment, ...]:
    """The dates and times of a text, in order."""
    found: list[Moment] = []
    for match in _DATE.finditer(text):
        if _is_date(match, text):
            one = _moment(match)
            found += (*_days_before(text, one), one)
    return tuple(found)


# "On 24 and 31 December": days that share the month behind the last of them.
_DAYS_BEFORE = re.compile(
    rf"(?<![\w.,:$€£-])(?:{_DAY}(?:st|nd|rd|th)?(?:,\s+(?:and\s+)?|\s+(?:and|or|&)\s+)(?:the\s+)?){{1,6}}$"
)


def _days_before(text: str, last: Moment) -> Iterator[Moment]:
    """The days listed before a date that begins with its day."""
    if last.day is None or not text[last.start].isdigit():
        return
    start = max(0, last.start - _LONGEST_LIST)
    listed = _DAYS_BEFORE.search(text[start : last.start])
    if listed is not None:
        start += listed.start()
        for day in re.finditer(r"(\d+)(?:st|nd|rd|th)?", listed.group()):
            yield replace(last, start=start + day.start(), end=start + day.end(), day=int(day[1]))


_LONGEST_LIST = 60  # characters


def _is_date(match: re.Match[str], text: str) -> bool:
    """False for `may` and `march` where they may be verbs: `children under 12 may enter`."""
    if match["month_b"] in ("may", "march") and match["year_b"] is None:
        return False
    month = match["month_d"]
    if month is None or month.lower() not in ("may", "march"):
        return True
    return bool(text[: match.start()].strip()) and text[match.start() - 2] not in ".!?"


def _moment(match: re.Match[str]) -> Moment:
    def number(*names: str) -> int | None:
        return next((int(match[name]) for name in names if match[name] is not None), None)

    month_name = match["month_a"] or match["month_b"] or match["month_c"] or match["month_d"]
    hour, minute = number("hour", "hour_b"), number("minute", "minute_b") or 0
    if hour is not None and match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    return Moment(
        match.start(),
        match.end(),
        year=number("iso_year", "year_a", "year_b", "year_c", "year_d"),
        month=_MONTHS[month_name.lower()] if month_name else number("iso_month"),
        day=number("iso_day", "day_a", "day_b"),
        weekday=_WEEKDAYS[match["weekday"].lower()] if match["weekday"] else None,
        minutes=hour * 60 + minute if hour is not None else None,
        told_end=match.end(),
    )


def is_supported_by(claimed: Moment, found: Moment) -> bool:
    """True where the found date has every part that the claim gives."""
    return all(
        part is None or part == other
        for part, other in zip(claimed.parts, found.parts, strict=True)
    )


def is_supported_in(claimed: Moment, context: frozenset[tuple[int | None, ...]]) -> bool:
    """True where the context's dates have every part that the claim gives, together or apart."""
    if _has_parts(claimed.parts, context):
        return True
    if claimed.day is not None and (claimed.year is None or claimed.month is None):
        return False
    if claimed.day is not None:  # "April 9th" and "2011" together support "April 9, 2011"
        yearless = (None, claimed.month, claimed.day)
        has_day = yearless in _projected(context, (0, 1, 2))
        return has_day and (claimed.year,) in _projected(context, (0,))
    return all(
        part is None or (part,) in _projected(context, (at,))
        for at, part in enumerate(claimed.parts)
    )


def _has_parts(parts: Sequence[int | None], context: frozenset[tuple[int | None, ...]]) -> bool:
    """True where one date of the context has all these parts that are not None."""
    given = tuple(at for at, part in enumerate(parts) if part is not None)
    return tuple(parts[at] for at in given) in _projected(context, given)


@lru_cache(maxsize=8)
def _projected(
    context: frozenset[tuple[int | None, ...]], places: tuple[int, ...]
) -> frozenset[tuple[int | None, ...]]:
    """The context's dates, each with the parts at these places alone."""
    return frozenset(tuple(parts[at] for at in places) for parts in context)


def contradicts(claimed: Moment, found: Moment) -> bool:
    """True where both give the same part with different values."""
    shared = [
        (claimed_part, found_part)
        for claimed_part, found_part in zip(claimed.parts, found.parts, strict=True)
        if claimed_part is not None and found_part is not None
    ]
    return any(claimed_part != found_part for claimed_part, found_part in shared)
