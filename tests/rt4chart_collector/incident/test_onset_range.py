"""When a rise began, as an interval."""

from __future__ import annotations

import random

from rt4chart_collector.incident.onset_range import onset_range
from rt4chart_collector.store.rates.ticks import TICK_NS, Bin, Tick

START = 4_000_000_200 * 10**9
TICKS = 144


def ticks(chance: random.Random, began: int, *, risen: float, a_tick: float) -> list[Tick]:
    """Half a day of answers of one claim, of 2% wrong ones and, from `began` on, of `risen`."""
    found = []
    for number in range(TICKS):
        rate = risen if number >= began else 0.02
        answers = sum(chance.random() < a_tick / 10 for _ in range(10))
        wrong = sum(chance.random() < rate for _ in range(answers))
        bins = (Bin(1, 1, wrong, 0.5), Bin(1, 0, answers - wrong, 0.5))
        found.append(
            Tick(START + number * TICK_NS, "", "", "", tuple(b for b in bins if b.answers))
        )
    return found


def test_the_interval_has_the_beginning_in_nineteen_of_twenty_cases() -> None:
    """For busy routes and quiet ones, large rises and small ones, about as often as it says."""
    chance = random.Random(3)  # noqa: S311 - chance here is no secret
    covered, widths = 0, []
    for case in range(200):
        began = chance.randrange(40, 100)
        risen, a_tick = ((0.3, 4.0), (0.15, 4.0), (0.3, 1.0), (0.6, 0.5))[case % 4]
        found = onset_range(
            ticks(chance, began, risen=risen, a_tick=a_tick),
            since_ns=START + began * TICK_NS,
            before=0.02,
            begin_ns=START,
            until_ns=START + TICKS * TICK_NS,
        )
        assert found is not None
        at_ns = START + began * TICK_NS + TICK_NS // 2
        covered += found.low_ns <= at_ns <= found.high_ns
        widths.append((found.high_ns - found.low_ns) / TICK_NS)

    assert covered >= 184
    assert sum(widths) / len(widths) < 40


def test_a_sharp_rise_on_a_busy_route_is_dated_to_minutes() -> None:
    """A hundred answers a tick leave no doubt."""
    made = [
        Tick(START + n * TICK_NS, "", "", "", (Bin(2, 2 if n >= 50 else 0, 100, 1.0),))
        for n in range(TICKS)
    ]
    since_ns = START + 50 * TICK_NS
    found = onset_range(
        made, since_ns=since_ns, before=0.01, begin_ns=START, until_ns=START + TICKS * TICK_NS
    )

    assert found is not None
    assert (found.low_ns, found.high_ns) == (since_ns, since_ns + TICK_NS)


def test_hours_without_answers_leave_the_beginning_open() -> None:
    """The rise may have begun at any time between the last right and the first wrong answer."""
    made = [
        Tick(START + n * TICK_NS, "", "", "", (Bin(1, int(n >= 70), 20, 1.0),))
        for n in range(TICKS)
        if not 50 <= n < 70
    ]
    found = onset_range(
        made,
        since_ns=START + 70 * TICK_NS,
        before=0.01,
        begin_ns=START,
        until_ns=START + TICKS * TICK_NS,
    )

    assert found is not None
    assert found.low_ns <= START + 51 * TICK_NS
    assert found.high_ns >= START + 70 * TICK_NS


def test_without_a_rise_nothing_is_said() -> None:
    """Neither without an answer, nor where the rate is no higher."""
    until_ns = START + TICKS * TICK_NS
    calm = [Tick(START, "", "", "", (Bin(1, 0, 50, 1.0),))]

    for made in ([], calm):
        assert (
            onset_range(made, since_ns=START, before=0.1, begin_ns=START, until_ns=until_ns) is None
        )
