"""How often the intervals that an alert states for the parts of a rise contain the true parts.

    python -m benchmarks.drift.parts [--rises N] [--seed N]

Routes of `mixed_world.py` whose mix moves the rate by 10% from day to day, 200 answers an hour, 28
days of history. In three hours, the mix and the quality of all kinds change by 0, 2 or 4 points
each. Both parts are known; those that are stated are compared with them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.drift.mixed_world import (
    MixedWorld,
    Scene,
    draw_mixed,
    make_mixed_world,
    mixed_tick,
)
from benchmarks.drift.world import DAY, HOUR, START_NS
from rt4chart_collector.core.alerts.facts import RiseParts
from rt4chart_collector.detect.drift.baseline import TRAILING_NS, baseline_of
from rt4chart_collector.detect.drift.policy import HOUR_NS, TICK_NS
from rt4chart_collector.detect.drift.rise_parts import rise_parts

HISTORY, LASTS, PER_HOUR = 28 * DAY, 3 * HOUR, 200
CHANGES = (0.0, 0.02, 0.04)
SCENE = Scene("mix", mix=0.1)


@dataclass(frozen=True, slots=True)
class Told:
    """The parts that are stated, None where they are not, and the true ones."""

    parts: RiseParts | None
    mix: float
    quality: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how many of the intervals contain the truth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift.parts")
    parser.add_argument("--rises", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print(coverage([told(np.random.default_rng([given.seed, at])) for at in range(given.rises)]))


def told(rng: np.random.Generator) -> Told:
    """What is stated of one rise."""
    world = make_mixed_world(rng, PER_HOUR, (HISTORY + DAY) // DAY, SCENE)
    hourly = MixedWorld(
        world.expected.reshape(-1, HOUR, world.expected.shape[1]).sum(axis=1), world.rate[::HOUR]
    ).part(0, HISTORY // HOUR)
    past = [mixed_tick(HOUR * hour, row) for hour, row in enumerate(draw_mixed(rng, hourly))]
    baseline = baseline_of(past, now_ns=START_NS + HISTORY * TICK_NS)
    at = HISTORY + int(rng.integers(DAY - LASTS))
    shift, worse = (float(one) for one in rng.choice(CHANGES, 2))
    after = (world.shifted(at, LASTS, shift) if shift else world.part(at, LASTS)).risen(
        0, LASTS, worse
    )
    ticks = [mixed_tick(at + one, row) for one, row in enumerate(draw_mixed(rng, after))]
    before = hourly.expected[-(TRAILING_NS // HOUR_NS) :].sum(axis=0)
    now = after.expected.sum(axis=0)
    changed = now / now.sum() - before / before.sum()
    usual = world.rate[0]
    risen = float(now / now.sum() @ (after.rate[0] - usual))
    parts = rise_parts(baseline, ticks) if baseline else None
    return Told(parts, float(changed @ usual), risen)


def coverage(found: Sequence[Told]) -> str:
    """How many rises have stated parts, and how many intervals contain the truth."""
    stated = [(one, one.parts) for one in found if one.parts]
    mix = sum(parts.mix.low <= one.mix <= parts.mix.high for one, parts in stated)
    quality = sum(parts.quality.low <= one.quality <= parts.quality.high for one, parts in stated)
    number = max(len(stated), 1)
    return (
        f"parts are stated of {len(stated)} of {len(found)} rises; the 95% intervals contain "
        f"the mix's part in {mix / number:.0%} and that of quality in {quality / number:.0%}"
    )


if __name__ == "__main__":
    main()
