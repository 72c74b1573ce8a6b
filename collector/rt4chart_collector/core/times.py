"""Times and durations as text, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

_LAST_S = 253_402_300_799


def utc_time(time_ns: int) -> str:
    """A time for people, to the minute; a dash for 0."""
    return iso(time_ns)[:16].replace("T", " ") if time_ns else "–"


def lasted(since_ns: int, until_ns: int) -> str:
    """A duration in its two largest units."""
    minutes = max(0, until_ns - since_ns) // 60_000_000_000
    days, hours, left = minutes // 1440, minutes // 60 % 24, minutes % 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {left} min" if hours else f"{left} min"


def iso(time_ns: int) -> str:
    """A time in RFC 3339 format, in UTC, to the second; its years are 1970 to 9999."""
    moment = datetime.fromtimestamp(min(max(time_ns // 10**9, 0), _LAST_S), UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_time_ns(written: str) -> int:
    """The time in nanoseconds of a date or a time as people write it, in UTC if it names no zone.

    ValueError for any other text, and for times before 1970.
    """
    moment = datetime.fromisoformat(written)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        seconds = int(moment.timestamp())
    except OverflowError as error:
        raise ValueError(str(error)) from error
    if not 0 <= seconds <= _LAST_S:
        raise ValueError(f"expected a time from 1970 to 9999, got {written!r}")
    return seconds * 10**9


def time_ns_of(written: str) -> int:
    """The time that `iso` wrote, in nanoseconds; ValueError for any other text."""
    try:
        return int(datetime.fromisoformat(written).timestamp()) * 10**9
    except (ValueError, OverflowError) as error:
        raise ValueError(f"expected 2026-01-31T12:00:00Z or the like, got {written!r}") from error
