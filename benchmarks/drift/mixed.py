"""What is found where the mix of questions, the hour and the day of the week move the rate.

    python -m benchmarks.drift.mixed [--months N] [--changes N] [--per-hour N] [--seed N]

Simulated routes of `mixed_world.py`, 28 days of history and then a month each. Every scene is seen
twice: with the kinds of questions, and without (as where applications send no question). False
alerts are those of months without a change. At random times of them, quality gets worse by 3 and 5
points for all kinds (share found within 24 hours, median minutes), or the mix turns to kinds whose
rates are higher by 3 and 6 points (share that alerts within 24 hours: quality is as it was).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.drift.comparison import MONTH
from benchmarks.drift.mixed_world import (
    SCENES,
    Scene,
    draw_mixed,
    make_mixed_world,
    mixed_tick,
)
from benchmarks.drift.tables import quantile
from benchmarks.drift.world import DAY, Counts
from rt4chart_collector.detect.drift.detector import DriftDetector, create_detector
from rt4chart_collector.detect.drift.policy import DriftPolicy

HISTORY = 28 * DAY
RISES, SHIFTS = (0.03, 0.05), (0.03, 0.06)


@dataclass(slots=True)
class Outcome:
    """What came of a scene: false alerts a month, and minutes until an alert by change."""

    months: int = 0
    false_alerts: int = 0
    rises: dict[float, list[float]] = field(default_factory=lambda: {one: [] for one in RISES})
    shifts: dict[float, list[float]] = field(default_factory=lambda: {one: [] for one in SHIFTS})


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each scene, with and without kinds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift.mixed")
    parser.add_argument("--months", type=int, default=3, help="months of each scene")
    parser.add_argument("--changes", type=int, default=6, help="changes of each size in a month")
    parser.add_argument("--per-hour", type=int, default=200, help="verified answers an hour")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print("| scene | kinds | false alerts | +3 points | +5 points | mix +3 | mix +6 |")
    print("|---|---|--:|---|---|--:|--:|")
    for number, scene in enumerate(SCENES):
        for with_kinds in (True, False):
            outcome = Outcome()
            for month in range(given.months):
                # Both ways see the same answers.
                rng = np.random.default_rng([given.seed, number, given.per_hour, month])
                run_month(rng, scene, given.per_hour, given.changes, outcome, with_kinds=with_kinds)
            print(row(scene, outcome, with_kinds=with_kinds), flush=True)


def run_month(
    rng: np.random.Generator,
    scene: Scene,
    per_hour: float,
    changes: int,
    outcome: Outcome,
    *,
    with_kinds: bool,
) -> None:
    """A month without a change; copies of the detector are shown each change."""
    world = make_mixed_world(rng, per_hour, (HISTORY + MONTH) // DAY, scene)
    counts = draw_mixed(rng, world)
    times = set(rng.integers(HISTORY + DAY, HISTORY + MONTH - DAY, changes).tolist())
    detector, paged = create_detector(DriftPolicy()), False
    for at in range(HISTORY + MONTH):
        if at in times:
            for kept, sizes, change in (
                (outcome.rises, RISES, world.risen),
                (outcome.shifts, SHIFTS, world.shifted),
            ):
                for size in sizes:
                    after = draw_mixed(rng, change(at, DAY, size))
                    if not paged:
                        kept[size].append(delay(detector.fork(), at, after, with_kinds=with_kinds))
        now = detector.update([mixed_tick(at, counts[at], with_kinds=with_kinds)]).state == "page"
        outcome.false_alerts += now and not paged and at >= HISTORY
        paged = now
    outcome.months += 1


def delay(detector: DriftDetector, at: int, after: Counts, *, with_kinds: bool) -> float:
    """Minutes until the detector alerts; infinite where it does not in these ticks."""
    for past, counts in enumerate(after):
        tick = mixed_tick(at + past, counts, with_kinds=with_kinds)
        if detector.update([tick]).state == "page":
            return (past + 1) * 5.0
    return math.inf


def row(scene: Scene, outcome: Outcome, *, with_kinds: bool) -> str:
    """A line of the table."""
    cells = [
        scene.name,
        "known" if with_kinds else "not known",
        f"{outcome.false_alerts / outcome.months:.2f}",
        *(f"{_found(delays):.2f} in {_median(delays)}" for delays in outcome.rises.values()),
        *(f"{_found(delays):.2f}" for delays in outcome.shifts.values()),
    ]
    return f"| {' | '.join(cells)} |"


def _found(delays: Sequence[float]) -> float:
    return sum(one < math.inf for one in delays) / max(len(delays), 1)


def _median(delays: Sequence[float]) -> str:
    middle = quantile(delays, 0.5)
    return ">24 h" if middle == math.inf else f"{middle:.0f}"


if __name__ == "__main__":
    main()
