"""Watches a route that has no baseline yet: the last hours against those before, by an interval.

The evidence detector needs 2,000 claims of a usual rate. Until then, this plain comparison finds
large rises: a z test of two means, at a level that chance reaches at most as often as allowed if
every tick were a test of its own (docs/understand/drift.md, "New routes").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

from rt4chart_collector.detect.drift.policy import (
    DAY_NS,
    TICK_NS,
    TICKS_A_MONTH,
    DriftPolicy,
)
from rt4chart_collector.detect.drift.shares import Shares, shares_of
from rt4chart_collector.store.rates.ticks import Tick

# The last 90 minutes, or as far back as it takes for so many answers, but no more than a day.
WINDOW_NS, LEAST_ANSWERS = 18 * TICK_NS, 20
# The answers before it that a usual rate takes at least.
LEAST_BEFORE = 60
# A smaller rise is left to the evidence detector.
LEAST_RISE = 0.05


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

    def without_past(self, last_ns: int) -> EarlyWatch:
        """The same without ticks that no later update looks at."""
        kept = tuple(one for one in self.recent if one[0] > last_ns - DAY_NS)
        return replace(self, recent=kept)

    def update(self, at_ns: int, ticks: Sequence[Tick]) -> EarlyWatch:
        """The state after the ticks of one time; those of a rise never count as before it."""
        new = shares_of(bin_ for tick in ticks for bin_ in tick.bins)
        seen = replace(
            self, recent=(*(one for one in self.recent if one[0] > at_ns - DAY_NS), (at_ns, new))
        )
        since_ns, window = _window(seen.recent, at_ns)
        if self.rise is not None:
            is_over = window.answers >= LEAST_ANSWERS and window.likely_mean < self.rise.over_below
            after = tuple(one for one in seen.recent if one[0] >= since_ns)
            return EarlyWatch(self.policy, after, self.usual.plus(window)) if is_over else seen
        usual = self.usual.plus(new)
        before = usual.plus(window, -1)
        seen = replace(seen, usual=usual, z=0.0)
        if window.answers < LEAST_ANSWERS or before.answers < LEAST_BEFORE:
            return seen
        lift = window.likely_mean - before.likely_mean
        z = lift / math.hypot(window.error, before.error)
        if z < self.z_at or lift < LEAST_RISE:
            return replace(seen, z=z)
        rise = EarlyRise(since_ns, at_ns, before.likely_mean + lift / 2)
        return replace(seen, usual=before, rise=rise, z=z)


def _window(recent: Sequence[tuple[int, Shares]], at_ns: int) -> tuple[int, Shares]:
    """The beginning of the window that ends with this tick, and its sums."""
    since_ns, window = at_ns, Shares()
    for start, sums in reversed(recent):
        if window.answers >= LEAST_ANSWERS and start <= at_ns - WINDOW_NS:
            break
        since_ns, window = start, window.plus(sums)
    return since_ns, window
