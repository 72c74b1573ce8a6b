from __future__ import annotations

from threading import Lock

from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.llm.endpoint import MinuteLimit, Reservation


class Clock:
    """Time that tests set."""

    now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def held(minute: MinuteLimit, tokens: int) -> Reservation:
    """The room, which must be there."""
    found = minute.reserve(tokens)
    assert isinstance(found, Reservation), found
    return found


def test_room_is_held_until_it_is_known_what_a_call_used() -> None:
    """What a call did not use is there for the next one."""
    minute = MinuteLimit(Budget(tokens=100), Clock(), Lock())
    first = held(minute, 80)

    assert minute.reserve(30) == "over_budget: 100 tokens a minute"
    first.tokens = 70
    held(minute, 30)
    assert minute.reserve(1) == "over_budget: 100 tokens a minute"


def test_a_minute_later_there_is_room_again() -> None:
    """Calls and tokens of the last 60 seconds count."""
    clock = Clock()
    minute = MinuteLimit(Budget(calls=1), clock, Lock())
    held(minute, 0)
    assert minute.reserve(0) == "over_budget: 1 calls a minute"

    clock.now = 60.0

    held(minute, 0)


def test_what_was_refused_does_not_count() -> None:
    """Only what is sent takes room."""
    minute = MinuteLimit(Budget(calls=1, tokens=100), Clock(), Lock())

    assert minute.reserve(200) == "over_budget: 100 tokens a minute"
    held(minute, 100)
