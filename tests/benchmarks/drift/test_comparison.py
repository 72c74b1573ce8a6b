"""The drift benchmark's world, rivals and rows, on little."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from benchmarks.drift.comparison import OURS, Size, make_scene, ours, rival
from benchmarks.drift.rivals import alarms, bound_for, delay, window
from benchmarks.drift.tables import figures, quantile
from benchmarks.drift.world import CLAIMS, DAY, ICC, chances, make_world
from rt4chart_collector.detect.drift.policy import DriftPolicy

SMALL = Size((200,), 1, 1, 1, 1, 1)


def test_answers_have_the_rate_and_the_correlation_asked_for() -> None:
    """The mean is five times the rate, the variance that of a design effect of 1.8."""
    kinds, odds = np.arange(CLAIMS + 1), chances(0.06)

    mean = float(kinds @ odds)
    variance = float((kinds - mean) ** 2 @ odds)

    assert mean == pytest.approx(CLAIMS * 0.06)
    assert variance == pytest.approx(CLAIMS * 0.06 * 0.94 * (1 + (CLAIMS - 1) * ICC))


def test_traffic_is_what_was_asked_for_on_average() -> None:
    """Over whole weeks, whatever the day's and the week's cycle."""
    world = make_world(np.random.default_rng(1), 200, 28, restless=True)

    assert float(world.expected.sum()) / (28 * 24) == pytest.approx(200, rel=1e-6)
    assert len(np.unique(world.rate // 1e-9)) > DAY


def test_alarms_are_counted_once_in_six_hours_and_bounds_follow() -> None:
    """Four peaks, two of them close together: a bound for two alarms lies above the third."""
    peaks = np.zeros(4 * DAY)
    peaks[[10, 12, 400, 800]] = [5.0, 6.0, 4.0, 3.0]

    assert alarms(peaks, 3.0) == 3
    assert 3.0 < bound_for([peaks], 2.0) <= 4.0
    assert delay(peaks, 4.5) == 55.0
    assert delay(peaks, 7.0) == math.inf
    assert window(np.array([1.0, 2.0, 4.0]), 2).tolist() == [1.0, 3.0, 6.0]
    assert quantile([1.0, 2.0, math.inf], 0.5) == 2.0


def test_the_shipped_detector_and_a_rival_see_the_same_scene() -> None:
    """A month of one route: few false alarms, five points found within a day, rows as JSON."""
    scene = make_scene(np.random.default_rng(2), False, 200, SMALL)

    shipped = ours(scene, DriftPolicy(), OURS)
    other = rival(scene, "z 60 min, design effect", None)

    assert shipped.false_alarms <= 2
    assert other.false_alarms <= 1
    assert max(shipped.delays[0.05]) < 24 * 60
    assert json.loads(json.dumps(figures(shipped)))["+5 points"]["changes"] == 1
