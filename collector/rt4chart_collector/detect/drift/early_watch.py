"""Watches a route that has no baseline yet: the last hours against those before, by an interval.

The evidence detector needs 2,000 claims of a usual rate. Until then, this plain comparison finds
large rises: a z test of two means, at a level that chance reaches at most as often as allowed if
every tick were a test of its own (docs/understand/drift.md, "New routes").
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from statistics import NormalDist

from rt4chart_collector.detect.drift.policy import (
    DAY_NS,
    TICK_NS,
    TICKS_A_MONTH,
    DriftPolicy,
)
from rt4chart_collector.store.rates.ticks import Tick

# The last 90 minutes, or as far back as it takes for so many answers, but no more than a day.
WINDOW_NS, LEAST_ANSWERS = 18 * TICK_NS, 20
# The answers before it that a usual rate takes at least.
LEAST_BEFORE = 60
# A smaller rise is left to the evidence detector.
LEAST_RISE = 0.05


@dataclass(frozen=True, slots=True)
class Shares:
    """Sums over answers: their weights, and the shares of their claims that are counted."""

    weight: float = 0.0
    shares: float = 0.0
    squares: float = 0.0
    weights_squared: float = 0.0
    answers: int = 0

    def plus(self, other: Shares, times: int = 1) -> Shares:
        """The sums over both; without the other's where `times` is -1."""
        return Shares(
            self.weight + times * other.weight,
            self.shares + times * other.shares,
            self.squares + times * other.squares,
            self.weights_squared + times * other.weights_squared,
            self.answers + times * other.answers,
        )

    @property
    def mean(self) -> float:
        """The mean share, with an answer more of each kind (Laplace's rule of succession)."""
        size = self._size
        return (self.shares / self.weight * size + 1) / (size + 2) if self.weight else 0.5

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        if not self.weight:
            return math.inf
        plain = self.shares / self.weight
        variance = max(self.squares / self.weight - plain * plain, 0.0)
        # Without a counted claim the variance would be zero.
        least = self.mean * (1 - self.mean) / (self._size + 2)
        return math.sqrt(max(variance, least) / self._size)

    @property
    def _size(self) -> float:
        """Kish's number of answers."""
        return self.weight * self.weight / self.weights_squared if self.weight else 0.0


@dataclass(frozen=True, slots=True)
class EarlyRise:
    """An open rise: its beginning, when it was found, the rate before, and when it is over."""

    began_ns: int
    found_ns: int
    over_below: float


@dataclass(frozen=True, slots=True)
class EarlyWatch:
    """What is known of a new route after a tick; `update` gives the next state."""

    policy: DriftPolicy
    # The ticks of the last day, and the sums of all ticks but those of a rise.
    recent: tuple[tuple[int, Shares], ...] = ()
    usual: Shares = field(default_factory=Shares)
    rise: EarlyRise | None = None
    z: float = 0.0

    @property
    def z_at(self) -> float:
        """The standard errors that a rise must have."""
        looks = TICKS_A_MONTH * self.policy.routes / self.policy.false_alarms_per_month
        return NormalDist().inv_cdf(1 - 1 / max(looks, 2.0))

    def update(self, at_ns: int, ticks: Sequence[Tick]) -> EarlyWatch:
        """The state after the ticks of one time; those of a rise never count as before it."""
        new = shares_of(ticks)
        seen = replace(
            self, recent=(*(one for one in self.recent if one[0] > at_ns - DAY_NS), (at_ns, new))
        )
        since_ns, window = _window(seen.recent, at_ns)
        if self.rise is not None:
            is_over = window.answers >= LEAST_ANSWERS and window.mean < self.rise.over_below
            after = tuple(one for one in seen.recent if one[0] >= since_ns)
            return EarlyWatch(self.policy, after, self.usual.plus(window)) if is_over else seen
        usual = self.usual.plus(new)
        before = usual.plus(window, -1)
        seen = replace(seen, usual=usual, z=0.0)
        if window.answers < LEAST_ANSWERS or before.answers < LEAST_BEFORE:
            return seen
        lift = window.mean - before.mean
        z = lift / math.hypot(window.error, before.error)
        if z < self.z_at or lift < LEAST_RISE:
            return replace(seen, z=z)
        rise = EarlyRise(since_ns, at_ns, before.mean + lift / 2)
        return replace(seen, usual=before, rise=rise, z=z)


def _window(recent: Sequence[tuple[int, Shares]], at_ns: int) -> tuple[int, Shares]:
    """The beginning of the window that ends with this tick, and its sums."""
    since_ns, window = at_ns, Shares()
    for start, sums in reversed(recent):
        if window.answers >= LEAST_ANSWERS and start <= at_ns - WINDOW_NS:
            break
        since_ns, window = start, window.plus(sums)
    return since_ns, window


def shares_of(ticks: Iterable[Tick]) -> Shares:
    """The sums over the answers of these ticks that have a decided claim."""
    each = (
        Shares(
            weight := bin_.answers / bin_.sample_rate,
            weight * (share := bin_.counted / bin_.decided),
            weight * share * share,
            weight / bin_.sample_rate,
            bin_.answers,
        )
        for tick in ticks
        for bin_ in tick.bins
        if bin_.decided > 0 and bin_.sample_rate > 0
    )
    return reduce(Shares.plus, each, Shares())
