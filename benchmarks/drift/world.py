"""The simulated route of the drift benchmark: traffic, rate and answers of each tick.

Claims of an answer are beta-binomial: five of them, an intra-class correlation of 0.2. Answers come
by Poisson with a day's cycle of +-70% and weekends of 60%. The rate is 6%; in the restless world
it is 15 % (log) higher or lower from day to day and rises by a tenth of itself in 30 days.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rt4chart_collector.detect.drift.policy import TICK_NS
from rt4chart_collector.store.rates.ticks import Bin, Tick

CLAIMS, ICC, RATE = 5, 0.2, 0.06
DAY, HOUR = 288, 12
WOBBLE, TREND = 0.15, 0.1
START_NS = 1_767_225_600 * 10**9  # Thursday, 2026-01-01

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class World:
    """One route's ticks: answers expected an hour on average, and the true rate of each tick."""

    per_hour: float
    expected: Floats
    rate: Floats


def make_world(rng: np.random.Generator, per_hour: float, days: int, *, restless: bool) -> World:
    """A route of so many days; `expected` are its answers in each tick."""
    ticks = np.arange(days * DAY)
    cycle = 1 + 0.7 * np.sin(2 * np.pi * ticks / DAY + rng.uniform(0, 2 * np.pi))
    week = np.where((ticks // DAY + rng.integers(7)) % 7 < 5, 1.0, 0.6)
    expected = per_hour / HOUR * cycle * week / ((5 + 2 * 0.6) / 7)
    rate = np.full(len(ticks), RATE)
    if restless:
        wobble = np.exp(rng.normal(0, WOBBLE, days))[ticks // DAY]
        rate = RATE * wobble * (1 + TREND * ticks / (30 * DAY))
    return World(per_hour, expected, rate)


def chances(rate: float) -> Floats:
    """How likely an answer has 0, 1 … unfaithful claims: the beta-binomial distribution."""
    total = 1 / ICC - 1
    a, b = rate * total, (1 - rate) * total
    logs = [
        math.lgamma(CLAIMS + 1)
        - math.lgamma(k + 1)
        - math.lgamma(CLAIMS - k + 1)
        + math.lgamma(k + a)
        + math.lgamma(CLAIMS - k + b)
        - math.lgamma(CLAIMS + a + b)
        + math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        for k in range(CLAIMS + 1)
    ]
    return np.asarray(np.exp(logs) / np.sum(np.exp(logs)))


def draw(rng: np.random.Generator, expected: Floats, rate: Floats) -> Counts:
    """Of each tick how many answers have 0, 1 … unfaithful claims, shape (ticks, claims + 1)."""
    kinds, which = np.unique(np.round(rate, 6), return_inverse=True)
    table = np.stack([chances(float(kind)) for kind in kinds])
    return rng.multinomial(rng.poisson(expected), table[which])


def tick_of(at: int, counts: Counts, sample_rate: float = 1.0) -> Tick:
    """The tick of this number as the rollup gives it."""
    bins = tuple(Bin(CLAIMS, k, int(n), sample_rate) for k, n in enumerate(counts.tolist()) if n)
    return Tick(START_NS + at * TICK_NS, "model", "1", "", bins)
