"""The drift benchmark with adaptive sampling: what it costs on average, and what it saves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.drift.world import DAY, HOUR, World, chances, make_world, tick_of
from rt4chart_collector.detect.drift.e_detector import EvidenceDetector
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import TICK_NS, DriftPolicy
from rt4chart_collector.detect.drift.sampling import (
    SamplingBudget,
    SamplingPolicy,
    extra_answers,
    next_rate,
)

HISTORY, MONTH = 14 * DAY, 30 * DAY
# The route has ten times the answers that are verified at its own rate.
OWN_RATE = 0.1


@dataclass(frozen=True, slots=True)
class Adaptive:
    """What came of it: minutes by rise, and verified answers an hour over all the months."""

    restless: bool
    per_hour: int
    months: int
    mean_per_hour: float
    raised_share: float
    false_alarms: float
    delays: dict[float, list[float]]


class _Loop:
    """The watch, the sampling rate and the budget of one route: what a monitor would keep."""

    def __init__(self, policy: SamplingPolicy, at_ns: int) -> None:
        self.watch = EvidenceDetector(DriftPolicy())
        self.policy = policy
        self.rate = OWN_RATE
        self.budget = SamplingBudget(policy.budget_per_hour * policy.burst_hours, at_ns)

    def fork(self) -> _Loop:
        twin = _Loop(self.policy, self.budget.at_ns)
        twin.watch, twin.rate, twin.budget = self.watch.fork(), self.rate, self.budget
        return twin

    def look(
        self, rng: np.random.Generator, world: World, at: int, rise: float
    ) -> tuple[DriftFinding, int]:
        """Draw a tick's answers at the rate in force, look at them, set the next tick's rate."""
        offered = world.expected[at] / OWN_RATE
        counts = rng.multinomial(
            rng.poisson(offered * self.rate), _chances(float(world.rate[at]) + rise)
        )
        verified = int(counts.sum())
        finding = self.watch.update([tick_of(at, counts, self.rate)])
        spent = extra_answers(verified, self.rate, OWN_RATE)
        self.budget = self.budget.after(finding.tick_ns + TICK_NS, spent, self.policy)
        change = next_rate(self.rate, OWN_RATE, finding, self.policy, self.budget)
        self.rate = change.rate if change else self.rate
        return finding, verified


def adaptive(
    rng: np.random.Generator,
    *,
    restless: bool,
    per_hour: int,
    months: int,
    changes: int,
    rises: tuple[float, ...],
) -> Adaptive:
    """Months without a change; changes at random times are shown to copies of what ran so far."""
    policy = SamplingPolicy()
    delays: dict[float, list[float]] = {rise: [] for rise in rises}
    verified = raised = alarms = 0
    for _ in range(months):
        world = make_world(rng, per_hour, (HISTORY + MONTH) // DAY, restless=restless)
        loop, paged = _Loop(policy, tick_of(0, np.zeros(6, int)).start_ns), False
        times = set(rng.integers(HISTORY + DAY, HISTORY + MONTH - DAY, changes).tolist())
        for at in range(HISTORY + MONTH):
            if at in times and not paged:
                for rise in rises:
                    delays[rise].append(_delay(rng, loop.fork(), world, at, rise))
            finding, count = loop.look(rng, world, at, 0.0)
            if at >= HISTORY:
                verified += count
                raised += loop.rate > OWN_RATE
                alarms += finding.state == "page" and not paged
            paged = finding.state == "page"
    return Adaptive(
        restless,
        per_hour,
        months,
        verified / (months * MONTH) * HOUR,
        raised / (months * MONTH),
        alarms / months,
        delays,
    )


def _delay(rng: np.random.Generator, loop: _Loop, world: World, since: int, rise: float) -> float:
    for at in range(since, since + DAY):
        finding, _ = loop.look(rng, world, at, rise)
        if finding.state == "page":
            return (at - since + 1) * 5.0
    return math.inf


_KNOWN: dict[float, np.typing.NDArray[np.float64]] = {}


def _chances(rate: float) -> np.typing.NDArray[np.float64]:
    """The distribution, kept for each rate that came."""
    key = round(rate, 6)
    if key not in _KNOWN:
        _KNOWN[key] = chances(key)
    return _KNOWN[key]
