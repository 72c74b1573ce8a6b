"""Simulated routes whose rate follows the kind of question, the hour and the day of the week.

As in `world.py`, but each answer has a kind of question. Kinds have rates of their own, and the mix
of kinds differs from day to day; each scene says how much, and what else moves the rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from benchmarks.drift.world import (
    CLAIMS,
    DAY,
    HOUR,
    RATE,
    START_NS,
    Counts,
    Floats,
    chances,
    tick_of,
)
from rt4chart_collector.detect.drift.policy import TICK_NS
from rt4chart_collector.store.rates.ticks import Bin, Tick

# How often each kind is asked, and its rate as a multiple of the route's.
COMMON = np.array([0.35, 0.25, 0.15, 0.12, 0.08, 0.05])
RATES = np.array([0.45, 0.7, 1.0, 1.6, 2.2, 2.9])
RATES = RATES / (COMMON @ RATES)
NAMES = tuple(f"kind {one}" for one in range(len(COMMON)))


@dataclass(frozen=True, slots=True)
class Scene:
    """What moves the rate of a route.

    `mix` and `other` are standard deviations of the logarithm of a day's rate: by the day's mix of
    kinds, and for no reason that is recorded. `hours` and `weekdays` are the amplitudes of the
    cycles of a day and of a week. Where `rates` is false, all kinds have the same rate: the mix,
    which differs as with a deviation of 15%, means nothing.
    """

    name: str
    mix: float = 0.0
    other: float = 0.0
    hours: float = 0.0
    weekdays: float = 0.0
    rates: bool = True


SCENES = (
    Scene("steady"),
    Scene("days differ by 15%: unknown", other=0.15),
    Scene("days differ by 15%: unknown, mix without effect", mix=0.15, other=0.15, rates=False),
    Scene("days differ by 15%: half by mix", mix=0.15 / 2**0.5, other=0.15 / 2**0.5),
    Scene("days differ by 15%: mix", mix=0.15),
    Scene("days differ by 15%: day of week", weekdays=0.15 * 2**0.5),
    Scene("hours differ by 30%", hours=0.3),
    Scene("all of it", mix=0.09, other=0.06, hours=0.2, weekdays=0.1),
)


@dataclass(frozen=True, slots=True)
class MixedWorld:
    """Answers expected in each tick of each kind, and their true rates, both (ticks, kinds)."""

    expected: Floats
    rate: Floats

    def risen(self, at: int, ticks: int, points: float) -> MixedWorld:
        """So many ticks from a time on, with a rate that is higher by so many points."""
        part = self.part(at, ticks)
        total = part.expected.sum(axis=1, keepdims=True)
        usual = (part.expected * part.rate).sum(axis=1, keepdims=True) / total
        # Quality got worse for every kind of question, by the same factor.
        return replace(part, rate=np.minimum(part.rate * (1 + points / usual), 0.9))

    def shifted(self, at: int, ticks: int, points: float) -> MixedWorld:
        """The same, but with a mix of kinds whose usual rate is higher by so many points."""
        part = self.part(at, ticks)
        total = part.expected.sum(axis=1, keepdims=True)
        tilt = tilt_for(points / RATE)
        mixed = part.expected * np.exp(tilt * RATES)
        return replace(part, expected=mixed / mixed.sum(axis=1, keepdims=True) * total)

    def part(self, at: int, ticks: int) -> MixedWorld:
        """So many ticks from a time on."""
        return MixedWorld(self.expected[at : at + ticks], self.rate[at : at + ticks])


def make_mixed_world(
    rng: np.random.Generator, per_hour: float, days: int, scene: Scene
) -> MixedWorld:
    """A route of so many days, with the traffic of `make_world`."""
    ticks = np.arange(days * DAY)
    day = ticks // DAY
    weekday = (day + rng.integers(7)) % 7
    cycle = 1 + 0.7 * np.sin(2 * np.pi * ticks / DAY + rng.uniform(0, 2 * np.pi))
    traffic = per_hour / HOUR * cycle * np.where(weekday < 5, 1.0, 0.6) / ((5 + 2 * 0.6) / 7)
    mixes = np.tile(COMMON, (days, 1))
    if scene.mix:
        draws = rng.normal(0, 1, days)
        tilts = np.array([tilt_for(float(np.expm1(scene.mix * one))) for one in draws])
        mixes = COMMON * np.exp(tilts[:, None] * RATES)
        mixes /= mixes.sum(axis=1, keepdims=True)
    level = np.exp(rng.normal(0, scene.other, days))[day] if scene.other else np.ones(len(ticks))
    level = level * (1 + scene.hours * np.sin(2 * np.pi * ticks / DAY + rng.uniform(0, 2 * np.pi)))
    level = level * (1 + scene.weekdays * np.sin(2 * np.pi * weekday / 7))
    kinds = RATES if scene.rates else np.ones(len(RATES))
    return MixedWorld(traffic[:, None] * mixes[day], RATE * level[:, None] * kinds[None, :])


@lru_cache(maxsize=4096)
def tilt_for(change: float) -> float:
    """The exponential tilt towards the kinds with high rates that changes the rate by so much."""
    low, high = -10.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        weights = COMMON * np.exp(middle * RATES)
        if weights @ RATES / weights.sum() < 1 + change:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def draw_mixed(rng: np.random.Generator, world: MixedWorld) -> Counts:
    """Of each tick and kind how many answers have 0, 1 … unfaithful claims."""
    kinds, which = np.unique(np.round(world.rate, 4), return_inverse=True)
    table = np.stack([_chances(float(kind)) for kind in kinds])
    return rng.multinomial(rng.poisson(world.expected), table[which.reshape(world.rate.shape)])


@lru_cache(maxsize=16384)
def _chances(rate: float) -> Floats:
    return chances(rate)


def mixed_tick(at: int, counts: Counts, *, with_kinds: bool = True) -> Tick:
    """The tick of this number, its bins with the kinds of questions or without."""
    if not with_kinds:
        return tick_of(at, counts.sum(axis=0))
    bins = tuple(
        Bin(CLAIMS, int(k), int(counts[kind, k]), 1.0, NAMES[kind])
        for kind, k in np.argwhere(counts)
    )
    return Tick(START_NS + at * TICK_NS, "model", "1", "", bins)
