"""The drift benchmark's routes with kinds of questions, on little."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.drift.mixed import Outcome, delay, row
from benchmarks.drift.mixed_world import (
    COMMON,
    RATES,
    SCENES,
    MixedWorld,
    Scene,
    draw_mixed,
    make_mixed_world,
    mixed_tick,
    tilt_for,
)
from benchmarks.drift.parts import Told, coverage, told
from benchmarks.drift.world import CLAIMS, DAY, RATE
from rt4chart_collector.core.alerts.facts import PointsRange, RiseParts
from rt4chart_collector.detect.drift.detector import create_detector
from rt4chart_collector.detect.drift.policy import DriftPolicy


def daily_rates(world: MixedWorld) -> np.typing.NDArray[np.float64]:
    """The rate of each day over all kinds."""
    days = (world.expected * world.rate).sum(axis=1).reshape(-1, DAY).sum(axis=1)
    return np.asarray(days / world.expected.sum(axis=1).reshape(-1, DAY).sum(axis=1))


@pytest.mark.parametrize("scene", [one for one in SCENES if "15%" in one.name and one.rates])
def test_days_differ_as_the_scene_says(scene: Scene) -> None:
    """By 15% on average over many days, whatever the reason."""
    rates = daily_rates(make_mixed_world(np.random.default_rng(1), 10, 350, scene))

    assert np.std(np.log(rates)) == pytest.approx(0.15, abs=0.02)
    assert np.mean(rates) == pytest.approx(RATE, rel=0.03)


def test_rises_and_shifts_have_the_size_asked_for() -> None:
    """A rise of quality leaves the mix as it is, a shift of the mix every kind's rate."""
    world = make_mixed_world(np.random.default_rng(2), 10, 2, Scene("steady"))

    risen, shifted = world.risen(5, DAY, 0.03), world.shifted(5, DAY, 0.03)

    assert daily_rates(risen)[0] == pytest.approx(RATE + 0.03)
    assert daily_rates(shifted)[0] == pytest.approx(RATE + 0.03)
    assert np.array_equal(risen.expected, world.expected[5 : 5 + DAY])
    assert np.array_equal(shifted.rate, world.rate[5 : 5 + DAY])
    assert shifted.expected.sum() == pytest.approx(risen.expected.sum())
    assert pytest.approx(1.0) == COMMON @ RATES
    assert tilt_for(0.0) == pytest.approx(0.0, abs=1e-6)


def test_both_ways_see_the_same_answers() -> None:
    """Once with their kinds and once without."""
    world = make_mixed_world(np.random.default_rng(3), 200, 1, Scene("steady"))
    counts = draw_mixed(np.random.default_rng(3), world)[100]

    known, unknown = mixed_tick(7, counts), mixed_tick(7, counts, with_kinds=False)

    assert {bin_.kind for bin_ in unknown.bins} == {""}
    assert len({bin_.kind for bin_ in known.bins}) > 1
    for tick in (known, unknown):
        assert sum(bin_.answers for bin_ in tick.bins) == counts.sum()
        wrong = sum(bin_.answers * bin_.counted for bin_ in tick.bins)
        assert wrong == (counts.sum(axis=0) @ np.arange(CLAIMS + 1))


def test_the_parts_that_are_stated_are_compared_with_the_truth() -> None:
    """Two of three rises have stated parts, one of which is wrong about quality."""
    right = PointsRange(0.02, 0.01, 0.03)
    found = [
        Told(None, 0.0, 0.0),
        Told(RiseParts(0.04, right, right), 0.02, 0.02),
        Told(RiseParts(0.04, right, right), 0.02, 0.05),
    ]

    assert coverage(found) == (
        "parts are stated of 2 of 3 rises; the 95% intervals contain the mix's part in 100% and "
        "that of quality in 50%"
    )
    one = told(np.random.default_rng([0, 1]))
    assert -0.02 < one.mix < 0.06
    assert 0.0 <= one.quality < 0.1


def test_a_line_says_what_was_found() -> None:
    """Shares of those found, the median, and nothing where a cold detector saw one tick."""
    counts = draw_mixed(
        np.random.default_rng(3), make_mixed_world(np.random.default_rng(3), 10, 1, SCENES[0])
    )
    assert delay(create_detector(DriftPolicy()), 0, counts[:1], with_kinds=True) == math.inf
    outcome = Outcome(
        2, 3, {0.03: [35.0, 60.0, math.inf], 0.05: [math.inf]}, {0.03: [], 0.06: [20.0, math.inf]}
    )

    assert row(SCENES[0], outcome, with_kinds=False) == (
        "| steady | not known | 1.50 | 0.67 in 60 | 0.00 in >24 h | 0.00 | 0.50 |"
    )
