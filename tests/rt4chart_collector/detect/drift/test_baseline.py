"""What is usual on a route."""

from __future__ import annotations

import pytest

from rt4chart_collector.detect.drift.baseline import (
    LEAST_DEAD_BAND,
    WARM_CLAIMS,
    baseline_of,
    dead_band,
)
from rt4chart_collector.detect.drift.policy import TICK_NS
from rt4chart_collector.store.rates.ticks import Bin
from tests.rt4chart_collector.detect.drift.routes import DAY, START_NS, drawn, route, seeded, tick

NOW = START_NS + 20 * DAY * TICK_NS


def test_nothing_decided_is_no_baseline() -> None:
    """Without an answer that has decided claims there is none."""
    assert baseline_of([], now_ns=NOW) is None
    assert baseline_of([tick(0, (Bin(0, 0, 9, 1.0),))], now_ns=NOW) is None


def test_a_day_without_decided_claims_is_no_day() -> None:
    """Answers that claim nothing leave the baseline as it is."""
    some = [tick(day * DAY, (Bin(5, 1, 500, 1.0),)) for day in (8, 10)]
    claimless = tick(9 * DAY, (Bin(0, 0, 40, 1.0), Bin(5, 1, 0, 1.0), Bin(5, 1, 3, 0.0)))

    assert baseline_of([*some, claimless], now_ns=NOW) == baseline_of(some, now_ns=NOW)


def test_a_baseline_is_cold_below_two_thousand_claims() -> None:
    """At 1,995 claims it is cold and says so; at 2,000 it is warm."""
    cold = baseline_of([tick(0, (Bin(5, 0, 399, 1.0),))], now_ns=START_NS + DAY * TICK_NS)
    warm = baseline_of([tick(0, (Bin(5, 0, 400, 1.0),))], now_ns=START_NS + DAY * TICK_NS)

    assert cold is not None
    assert cold.is_cold
    assert (
        cold.reason == "1,995 of the 2,000 decided claims are known that a baseline of m 1 needs."
    )
    assert warm is not None
    assert warm.claims == WARM_CLAIMS
    assert not warm.is_cold
    assert not warm.reason


def test_only_fourteen_days_before_now_of_the_version_count() -> None:
    """Older ticks, later ones and those of another model or prompt version are left out."""
    inside = tick(10 * DAY, (Bin(5, 1, 500, 1.0),))
    others = [
        tick(5 * DAY, (Bin(5, 5, 500, 1.0),)),
        tick(10 * DAY, (Bin(5, 5, 500, 1.0),), version="2"),
        tick(10 * DAY, (Bin(5, 5, 500, 1.0),), model="n"),
        tick(21 * DAY, (Bin(5, 5, 500, 1.0),)),
    ]

    found = baseline_of([inside, *others], now_ns=NOW, version=("m", "1"))

    assert found is not None
    assert (found.rate, found.answers) == (0.2, 500)


def test_alarmed_spans_are_left_out() -> None:
    """A day that was alarmed does not make the usual rate."""
    ticks = [tick(at, (Bin(5, 0 if at < DAY else 5, 20, 1.0),)) for at in range(7 * DAY, 9 * DAY)]
    bad = [tick(at, (Bin(5, 5, 20, 1.0),)) for at in range(9 * DAY, 10 * DAY)]
    good = [tick(t.start_ns // TICK_NS - START_NS // TICK_NS, (Bin(5, 0, 20, 1.0),)) for t in ticks]
    span = (START_NS + 9 * DAY * TICK_NS, START_NS + 10 * DAY * TICK_NS)

    found = baseline_of([*good, *bad], now_ns=NOW, alarmed=[span])

    assert found is not None
    assert found.rate == 0
    assert 0 < found.share < 0.001


def test_risk_samples_do_not_bias_it() -> None:
    """Answers of a rule of risk count for themselves, sampled ones for ten."""
    found = baseline_of(
        [tick(0, (Bin(5, 5, 100, 1.0), Bin(5, 0, 390, 0.1)))], now_ns=START_NS + DAY * TICK_NS
    )

    assert found is not None
    assert found.rate == pytest.approx(100 / 4000)


def test_sampling_noise_is_not_taken_for_days_that_differ() -> None:
    """Days alike in truth have a small deviation, days that differ by a third a large one."""
    random = seeded(2)
    alike = route(14, lambda at: 0.06, answers=10, seed=4).ticks
    rates = [0.06 * (4 / 3 if day % 2 else 2 / 3) for day in range(14)]
    wild = [tick(at, drawn(random, 10, rates[at // DAY])) for at in range(14 * DAY)]

    calm = baseline_of(alike, now_ns=START_NS + 14 * DAY * TICK_NS)
    restless = baseline_of(wild, now_ns=START_NS + 14 * DAY * TICK_NS)

    assert calm is not None
    assert restless is not None
    assert calm.between_day_sd < 0.005
    assert calm.dead_band < 0.012
    assert 0.014 < restless.between_day_sd < 0.027
    assert restless.dead_band > 0.03
    assert calm.share == pytest.approx(0.06, abs=0.004)
    assert calm.design_effect == pytest.approx(1.8, abs=0.2)


def test_the_dead_band_has_a_floor_and_shrinks_with_days() -> None:
    """Half a point at least; the same deviation seen on more days gives a narrower band."""
    assert dead_band(0.06, 0.0, 14) == LEAST_DEAD_BAND
    assert dead_band(0.06, 0.009, 2) > dead_band(0.06, 0.009, 14) > 1.6 * 0.009
