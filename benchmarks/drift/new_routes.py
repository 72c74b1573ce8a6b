"""What the watch of new routes finds, before a baseline is known, and how often it is wrong.

    python -m benchmarks.drift.new_routes [--routes N] [--seed N]

Routes begin with nothing at a rate of 6% or 2% (`world.py`), until the first tick with a baseline
of 2,000 claims: 400 answers. A false alert is one without a change. A change of +10 or +20 points
comes after half of that time; it is found if an alert stands before the baseline does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from benchmarks.drift.world import DAY, RATE, World, draw, make_world, tick_of
from rt4chart_collector.detect.drift.baseline import WARM_CLAIMS
from rt4chart_collector.detect.drift.detector import create_detector
from rt4chart_collector.detect.drift.policy import DriftPolicy

DAYS = 14
PER_HOUR = (5, 20, 50)
RATES = (0.02, RATE)
RISES = (0.1, 0.2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each kind of route."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift.new_routes")
    parser.add_argument("--routes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print(
        "| world | rate | answers/h | routes | hours cold | false alerts | rise | found | minutes |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for restless in (False, True):
        for rate in RATES:
            for per_hour in PER_HOUR:
                print_kind(given.routes, given.seed, restless, rate, per_hour)


def print_kind(routes: int, seed: int, restless: bool, rate: float, per_hour: int) -> None:
    """Print the false alerts and, for each rise, what was found."""
    rng = np.random.default_rng([seed, int(restless), int(rate * 100), per_hour])
    name = "restless" if restless else "steady"
    worlds = [make_world(rng, per_hour, DAYS, restless=restless) for _ in range(routes)]
    worlds = [replace(one, rate=one.rate * rate / RATE) for one in worlds]
    calm = [watch(rng, one) for one in worlds]
    hours = median(cold for cold, _ in calm) / 12
    wrong = sum(bool(found) for _, found in calm)
    for rise in RISES:
        minutes = []
        for world, (cold, _) in zip(worlds, calm, strict=True):
            at = cold // 2
            raised = world.rate.copy()
            raised[at:] += rise
            _, found = watch(rng, replace(world, rate=raised))
            minutes += [5 * (one - at + 1) for one in found[:1] if one >= at]
        middle = f"{median(minutes):.0f}" if minutes else "–"
        share = len(minutes) / routes
        print(
            f"| {name} | {rate:.0%} | {per_hour} | {routes} | {hours:.0f} | {wrong} "
            f"| {rise * 100:.0f} | {share:.2f} | {middle} |",
            flush=True,
        )


def watch(rng: np.random.Generator, world: World) -> tuple[int, list[int]]:
    """The number of ticks until there is a baseline, and the ticks in which an alert began."""
    detector, claims, found, was_open = create_detector(DriftPolicy()), 0, [], False
    for at, counts in enumerate(draw(rng, world.expected, world.rate)):
        tick = tick_of(at, counts)
        finding = detector.update([tick])
        if finding.state == "page" and not was_open:
            found.append(at)
        was_open = finding.state == "page"
        claims += sum(one.answers * one.decided for one in tick.bins)
        if claims >= WARM_CLAIMS and not was_open:
            return at, found
    return DAYS * DAY, found


if __name__ == "__main__":
    main()
