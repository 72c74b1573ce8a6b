"""The breaker: when judging is paused, and when it goes on."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.judges.judge_failure import JudgeFailure
from rt4chart_collector.pipeline.breaker import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    MOST_BLAMED,
    PERMANENT_FAILURES,
    SECOND,
    TEMPORARY_FAILURES,
    WINDOW,
    Breaker,
)

BUSY = JudgeFailure("rate_limited", "JudgeError", True)
AWAY = JudgeFailure("unreachable", "JudgeError", True)
LONG = JudgeFailure("too_long", "JudgeError", False)
IN_PART = JudgeFailure("rate_limited", "JudgeError", True, is_total=False)


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        """Nanoseconds."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """At zero."""
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    """Closed."""
    return Breaker("openai/m", clock)


def note(breaker: Breaker, *failures: JudgeFailure | None) -> None:
    """So many answers in a row."""
    for failure in failures:
        breaker.note(failure)


def test_failures_in_a_row_for_one_reason_pause_the_judging(
    breaker: Breaker, caplog: pytest.LogCaptureFixture
) -> None:
    """And it is said loudly, with the reason."""
    note(breaker, *[BUSY] * (TEMPORARY_FAILURES - 1))
    before = breaker.allows()
    note(breaker, BUSY)

    assert before
    assert not breaker.allows()
    assert breaker.status == {
        "paused": True,
        "reason": "rate_limited",
        "next_attempt_s": FIRST_WAIT_S,
    }
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "judging is paused: 5 answers in a row failed (rate_limited)" in caplog.text


@pytest.mark.parametrize("between", [None, AWAY, IN_PART])
def test_another_outcome_begins_a_new_row(breaker: Breaker, between: JudgeFailure | None) -> None:
    """A success, another reason, or a judge that decided on some claims."""
    note(breaker, *[BUSY] * (TEMPORARY_FAILURES - 1), between, *[BUSY] * (TEMPORARY_FAILURES - 1))

    assert breaker.allows()


def test_bad_answers_are_borne_longer_than_a_bad_judge(breaker: Breaker) -> None:
    """A few that are too long come together now and then."""
    note(breaker, *[LONG] * (PERMANENT_FAILURES - 1))
    before = breaker.allows()
    note(breaker, LONG)

    assert before
    assert not breaker.allows()


def test_share_of_the_last_answers_pauses_too(breaker: Breaker) -> None:
    """Four of five fail, though never five in a row."""
    note(breaker, *([BUSY] * 4 + [None]) * (WINDOW // 5 - 1))
    before = breaker.allows()
    note(breaker, None, *[BUSY] * 4)

    assert before
    assert not breaker.allows()


def test_one_answer_is_let_through_after_the_wait(breaker: Breaker, clock: Clock) -> None:
    """It alone, whoever else asks; its success lets all of them through."""
    note(breaker, *[BUSY] * TEMPORARY_FAILURES)
    clock.now = FIRST_WAIT_S * SECOND
    is_paused = breaker.is_paused
    admitted = [breaker.allows(), breaker.allows()]
    note(breaker, None)

    assert (is_paused, admitted) == (False, [True, False])
    assert breaker.allows()
    assert breaker.status == {"paused": False}


def test_each_failed_attempt_doubles_the_wait(breaker: Breaker, clock: Clock) -> None:
    """Up to ten minutes; what was under way when it opened does not count."""
    note(breaker, *[BUSY] * TEMPORARY_FAILURES, BUSY, BUSY)
    waits = []
    for _ in range(6):
        waits.append(breaker.status["next_attempt_s"])
        clock.now += round(float(str(waits[-1])) * SECOND)
        assert breaker.allows()
        note(breaker, AWAY)

    assert waits == [30, 60, 120, 240, 480, LONGEST_WAIT_S]


@given(st.lists(st.sampled_from([BUSY, AWAY, LONG, IN_PART, None, "wait"]), max_size=120))
def test_no_pause_is_for_ever(events: list[JudgeFailure | str | None]) -> None:
    """Whatever came before: after the longest wait one answer is let through, and may end it."""
    clock = Clock()
    breaker = Breaker("openai/m", clock)
    for event in events:
        if isinstance(event, str):
            clock.now += FIRST_WAIT_S * SECOND
        elif breaker.allows():
            breaker.note(event)
    clock.now += LONGEST_WAIT_S * SECOND
    was_paused = bool(breaker.status["paused"])

    assert not breaker.is_paused
    assert [breaker.allows(), breaker.allows()] == [True, not was_paused]
    breaker.note(None)
    assert breaker.status == {"paused": False}


def test_answers_at_fault_pause_the_services_that_sent_them(breaker: Breaker, clock: Clock) -> None:
    """60 answers on which the model refuses to reply do not keep the others' from being judged."""
    for _ in range(PERMANENT_FAILURES):
        breaker.note(LONG, "acme")

    paused = [breaker.allows("acme"), breaker.allows("zeta"), breaker.allows("zeta")]
    breaker.note(LONG, "zeta")
    then = [breaker.allows("zeta"), breaker.allows("third")]
    clock.now = FIRST_WAIT_S * SECOND
    probes = [breaker.allows("acme"), breaker.allows("zeta")]

    assert paused == [False, True, True]
    assert then == [False, True]
    assert probes == [True, False]


def test_answer_of_another_service_shows_that_the_judge_works(breaker: Breaker) -> None:
    """The pause ends for all; the answers at fault are given up one by one."""
    for _ in range(PERMANENT_FAILURES):
        breaker.note(LONG, "acme")
    breaker.note(None, "zeta")

    assert breaker.allows("acme")
    assert not breaker.is_paused


def test_judge_that_fails_for_reasons_of_its_own_pauses_all(breaker: Breaker) -> None:
    """Whoever sent the answers; also while the services at fault wait."""
    for _ in range(PERMANENT_FAILURES):
        breaker.note(LONG, "acme")
    for _ in range(TEMPORARY_FAILURES):
        breaker.note(BUSY, "zeta")

    assert not breaker.allows("third")


def test_many_services_at_fault_are_the_judges_fault(breaker: Breaker) -> None:
    """Names cost nothing: beyond a number of them all services wait."""
    for _ in range(PERMANENT_FAILURES):
        breaker.note(LONG, "acme")
    for number in range(MOST_BLAMED):
        breaker.note(LONG, f"made up {number}")

    assert not breaker.allows("zeta")
