"""What raised sampling has taken from its budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS
from rt4chart_collector.detect.drift.sampling import SamplingPolicy
from rt4chart_collector.detect.monitor.adaptive_sampling import (
    AdaptiveSampling,
    RateRaise,
    budget_left,
    extra_answers_of,
    find_raises,
)
from rt4chart_collector.store.alerts.sampling_rates import (
    SamplingRateRow,
    rates_in_force,
    record_rates,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.ticks import Bin, Tick
from tests.rt4chart_collector.detect.monitor.world import HOUR, START, World
from tests.rt4chart_collector.records import VERIFIER

PLACE = ("shop", "support")
POLICY = SamplingPolicy()


def asked(
    hours: float, rate: float, reason: str = "rise", *, lasts: float = 1.0
) -> SamplingRateRow:
    """What was asked for so many hours after the start."""
    at_ns = START + round(hours * HOUR)
    return SamplingRateRow(*PLACE, at_ns, rate, at_ns + round(lasts * HOUR), reason)


def tick(at_ns: int, answers: int, rate: float) -> Tick:
    """Answers of one rate."""
    return Tick(at_ns, "m", "1", "1", (Bin(3, 0, answers, rate),))


def finding(at_ns: int, *, beyond: float = 3.0) -> DriftFinding:
    """A route with evidence of a rise, at a thousand answers an hour."""
    return DriftFinding(
        at_ns, "warn", 4.0, 4.0, 3.0, 9.0, None, None, 0, 100.0, 1000.0, "", beyond=beyond
    )


def test_a_raise_lasts_as_long_as_it_is_renewed() -> None:
    """Its end names the route's own rate; one that nobody renewed ends by itself."""
    sets = [
        asked(0, 0.5),
        asked(0.5, 1.0),
        asked(1, 0.1, "over", lasts=0),
        asked(5, 0.4),
    ]

    found = find_raises(sets[::-1])

    assert found == {
        PLACE: [
            RateRaise(0.1, 1.0, START, START + HOUR),
            RateRaise(None, 0.4, START + 5 * HOUR, START + 6 * HOUR),
        ]
    }


def test_an_answer_is_charged_by_its_own_rate() -> None:
    """Those at the route's rate cost nothing, nor do those that a rule chose at a higher one."""
    ticks = [tick(START, 100, 0.1), tick(START, 100, 0.5), tick(START, 100, 1.0)]

    assert extra_answers_of(ticks, 0.1, 0.5) == pytest.approx(80)


def test_the_budget_is_what_a_week_left_of_it() -> None:
    """Earned by the hour, up to a week's worth; a raise of before costs nothing now."""
    now = START + 8 * DAY_NS
    raises = {PLACE: [RateRaise(0.1, 1.0, now - HOUR_NS * 10, now - HOUR_NS * 9)]}
    full = POLICY.first_budget(now).left

    def ticks_of(place: tuple[str, str], since_ns: int, until_ns: int) -> Sequence[Tick]:
        times = range(now - 12 * HOUR_NS, now, TICK_NS)
        return [tick(at, 100, 1.0) for at in times if since_ns <= at < until_ns]

    left = budget_left(raises, ticks_of, POLICY, now_ns=now).left

    # Fifteen ticks touch the raise; nine hours are earned since, and one within it.
    assert left == pytest.approx(full - 15 * 90 + 9 * 50 + 50, abs=60)
    assert budget_left({}, ticks_of, POLICY, now_ns=now).left == full


def test_a_restart_does_not_fill_the_budget(client: Client) -> None:
    """Nor does another process that takes over: what was spent is in the store."""
    world = World(client)
    world.answer(24, 100, 0.0, sample_rate=0.1)
    record_rates(client, [asked(24, 1.0, lasts=2)])
    world.answer(2, 1000, 0.0)
    world.now += HOUR
    full = POLICY.first_budget(world.now).left

    made = AdaptiveSampling(client, POLICY, verifier=VERIFIER, now_ns=world.now)

    assert made.left == pytest.approx(full - 2000 * 0.9 + 3 * 50, rel=0.01)


def test_ticks_that_settle_after_a_raise_are_charged(client: Client) -> None:
    """Evidence that comes and goes within half an hour costs what it brought."""
    world = World(client)
    world.answer(24, 100, 0.0, sample_rate=0.1)
    made = AdaptiveSampling(client, POLICY, verifier=VERIFIER, now_ns=world.now)
    full, now = made.left, world.now
    made.adapt({PLACE: finding(now)}, {}, now_ns=now)
    (raised,) = rates_in_force(client, now_ns=now)
    made.adapt({PLACE: finding(now + TICK_NS, beyond=0.0)}, {}, now_ns=now + TICK_NS)
    late = [tick(now, 100, raised.rate), tick(now, 100, 0.1)]

    made.adapt({}, {PLACE: late}, now_ns=now + 7 * TICK_NS)

    assert raised.rate == 1.0
    assert made.left == pytest.approx(full - 90)


def test_a_route_that_fell_silent_is_not_kept_raised(client: Client) -> None:
    """After an hour without an answer its own rate holds."""
    world = World(client)
    world.answer(24, 100, 0.0, sample_rate=0.1)
    made = AdaptiveSampling(client, POLICY, verifier=VERIFIER, now_ns=world.now)
    last = finding(world.now)
    rates = []
    for step in range(4):
        now = world.now + step * HOUR_NS // 2
        made.adapt({PLACE: last}, {}, now_ns=now)
        rates.append([one.rate for one in rates_in_force(client, now_ns=now)])

    assert rates == [[1.0], [1.0], [], []]
