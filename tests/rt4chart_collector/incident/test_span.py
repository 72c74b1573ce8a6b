"""The time around a rise, and the steps of its rate."""

from __future__ import annotations

import pytest

from rt4chart_collector.incident.span import IncidentSpan, incident_span, rate_steps
from rt4chart_collector.store.rates.ticks import Bin, Tick
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE

START = 4_000_000_200 * 10**9
DAY = 24 * HOUR


def tick(at_ns: int, *, wrong: int = 0, answers: int = 1) -> Tick:
    """Answers of one claim each in five minutes."""
    bins = (Bin(1, 1, wrong, 1.0), Bin(1, 0, answers - wrong, 1.0))
    return Tick(at_ns, "m", "7", "1.0", tuple(one for one in bins if one.answers))


def hour_of(begin_ns: int, wrong: int, answers: int = 2) -> list[Tick]:
    """The ticks of an hour."""
    return [tick(begin_ns + n * 5 * MINUTE, wrong=wrong, answers=answers) for n in range(12)]


@pytest.mark.parametrize(
    ("ended", "past", "begin", "until"),
    [
        (0, 2 * HOUR, -6 * HOUR, 2 * HOUR),
        (0, 10 * HOUR, -10 * HOUR, 10 * HOUR),
        (0, 3 * DAY, -DAY, 3 * DAY),
        (8 * HOUR, 5 * DAY, -8 * HOUR, 10 * HOUR),
        (8 * HOUR, 8 * HOUR + MINUTE, -8 * HOUR, 8 * HOUR + MINUTE),
        (1, 5 * DAY, -6 * HOUR, HOUR + 1),
    ],
)
def test_the_chart_shows_hours_before_and_the_rise_to_its_end(
    ended: int, past: int, begin: int, until: int
) -> None:
    """As long before as the rise lasts, between six hours and a day; never the future."""
    end_ns = START + ended if ended else 0
    span = incident_span(START, end_ns=end_ns, now_ns=START + past)

    assert (span.begin_ns - START, span.until_ns - START) == (begin, until)
    assert not span.is_cut


def test_a_rise_of_a_month_is_cut() -> None:
    """And says so."""
    span = incident_span(START, end_ns=0, now_ns=START + 30 * DAY)

    assert span.is_cut
    assert span.until_ns - span.begin_ns == 14 * DAY


def test_no_step_mixes_answers_before_the_anchor_with_later_ones() -> None:
    """The rise is where it began, wherever that is in the hour."""
    ticks = [*hour_of(START - HOUR, 0), *hour_of(START, 1)]
    span = IncidentSpan(START - HOUR, START + HOUR)

    steps = rate_steps(ticks, span, anchor_ns=START)

    assert {step.rate.value for step in steps if step.begin_ns < START} == {0.0}
    assert {step.rate.value for step in steps if step.begin_ns >= START} == {0.5}
    assert all(step.end_ns <= START or step.begin_ns >= START for step in steps)


def test_steps_are_longer_where_claims_are_few() -> None:
    """Down to some ten steps; each says its claims and answers."""
    span = IncidentSpan(START - 12 * HOUR, START + 12 * HOUR)
    hours = range(-12, 12)
    many = [one for n in hours for one in hour_of(START + n * HOUR, 0, answers=10)]
    few = [tick(START + n * HOUR) for n in hours]

    assert [step.end_ns - step.begin_ns for step in rate_steps(many, span, anchor_ns=START)] == [
        30 * MINUTE
    ] * 48
    found = rate_steps(few, span, anchor_ns=START)
    assert [(step.claims, step.answers) for step in found] == [(2, 2)] * 12


def test_a_step_without_claims_is_left_out() -> None:
    """No rate is made up."""
    span = IncidentSpan(START - 6 * HOUR, START + 6 * HOUR)
    steps = rate_steps([tick(START)], span, anchor_ns=START)

    assert [(step.begin_ns, step.claims) for step in steps] == [(START, 1)]
    assert rate_steps([], span, anchor_ns=START) == []


def test_the_last_minutes_are_no_step_of_their_own() -> None:
    """A rate of two claims beside rates of twenty would be read as another rise."""
    span = IncidentSpan(START - 6 * HOUR - 10 * MINUTE, START + 6 * HOUR + 10 * MINUTE)
    ticks = [tick(START + n * 10 * MINUTE) for n in range(-37, 37)]

    steps = rate_steps(ticks, span, anchor_ns=START)

    assert (steps[0].begin_ns, steps[-1].end_ns) == (span.begin_ns, span.until_ns)
    assert [step.claims for step in steps] == [7, *[6] * 10, 7]


def test_the_first_minutes_of_a_rise_stay_apart_from_what_was_before() -> None:
    """Few as they are."""
    span = IncidentSpan(START - 6 * HOUR, START + 5 * MINUTE)
    ticks = [*hour_of(START - HOUR, 0), tick(START, wrong=1)]

    assert [(step.begin_ns, step.rate.value) for step in rate_steps(ticks, span, anchor_ns=START)][
        -1
    ] == (START, 1.0)
