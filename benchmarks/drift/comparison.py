"""Every drift rule on one simulated route: delays after a rise, and false alarms without one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.drift.adaptive import Adaptive, adaptive
from benchmarks.drift.rivals import STATISTICS, USUAL_BOUND, alarms, bound_for, delay
from benchmarks.drift.river import WARM, count, makers, rises
from benchmarks.drift.river import delay as river_delay
from benchmarks.drift.tables import Row
from benchmarks.drift.world import DAY, Counts, World, draw, make_world, tick_of
from rt4chart_collector.detect.drift.detector import DriftDetector, create_detector
from rt4chart_collector.detect.drift.policy import DriftPolicy

HISTORY, MONTH = 14 * DAY, 30 * DAY
RISES = (0.02, 0.03, 0.05)
OURS = "e-detector, dead band (shipped)"
CLASSIC = "3 points in 60 min (shipped rule `window`)"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated: route-months of a scene, changes a month and rise."""

    rates: tuple[int, ...]
    months: int
    changes: int
    adaptive_changes: int
    river_months: int
    river_changes: int


QUICK = Size((50, 200, 1000), 3, 8, 12, 1, 2)
FULL = Size((50, 200, 1000), 40, 5, 10, 2, 12)


@dataclass(frozen=True, slots=True)
class Change:
    """A rise at a tick of a month: the answers of the 24 hours after it."""

    month: int
    at: int
    rise: float
    after: Counts


@dataclass(frozen=True, slots=True)
class Scene:
    """The same months and changes for every way."""

    restless: bool
    per_hour: int
    months: tuple[Counts, ...]
    changes: tuple[Change, ...]


def make_scene(rng: np.random.Generator, restless: bool, per_hour: int, size: Size) -> Scene:
    """Months of a route, with changes at random times."""
    months, changes = [], []
    for month in range(size.months):
        world = make_world(rng, per_hour, (HISTORY + MONTH) // DAY, restless=restless)
        months.append(draw(rng, world.expected, world.rate))
        for at in sorted(rng.integers(HISTORY + DAY, HISTORY + MONTH - DAY, size.changes).tolist()):
            changes += [Change(month, at, rise, _after(rng, world, at, rise)) for rise in RISES]
    return Scene(restless, per_hour, tuple(months), tuple(changes))


def _after(rng: np.random.Generator, world: World, at: int, rise: float) -> Counts:
    return draw(rng, world.expected[at : at + DAY], world.rate[at : at + DAY] + rise)


def ours(scene: Scene, policy: DriftPolicy, way: str) -> Row:
    """A shipped rule; a change is shown to a copy of the watch that saw all before it."""
    alarms, delays = 0, empty()
    for number, counts in enumerate(scene.months):
        waiting = [one for one in scene.changes if one.month == number]
        watch, paged = create_detector(policy), False
        for at, row in enumerate(counts):
            while waiting and waiting[0].at == at:
                change = waiting.pop(0)
                if not paged:
                    delays[change.rise].append(delay_of(watch.fork(), change))
            now = watch.update([tick_of(at, row)]).state == "page"
            alarms += now and not paged and at >= HISTORY
            paged = now
    return row_of(way, scene, alarms / len(scene.months), delays)


def delay_of(watch: DriftDetector, change: Change) -> float:
    """Minutes until the watch pages after the change; infinite where it does not in 24 hours."""
    for past, row in enumerate(change.after):
        if watch.update([tick_of(change.at + past, row)]).state == "page":
            return (past + 1) * 5.0
    return math.inf


def rival(scene: Scene, way: str, bound: float | None) -> Row:
    """A statistic with a bound; without one, with that which gives it one false alarm a month."""
    statistic = STATISTICS[way]
    calm = [statistic(counts)[HISTORY:] for counts in scene.months]
    held = bound_for(calm, 1.0) if bound is None else bound
    delays = empty()
    for change in scene.changes:
        first = max(change.at // DAY - 15, 0) * DAY
        seen = scene.months[change.month][first : change.at]
        past = statistic(np.concatenate([seen, change.after]))[len(seen) - 1 :]
        if past[0] < held:
            delays[change.rise].append(delay(past[1:], held))
    name = f"{way}, > {held:.1f}" if bound is not None else f"{way}, tuned to 1 ({held:.1f})"
    return row_of(name, scene, sum(alarms(one, held) for one in calm) / len(calm), delays)


def rivals(scene: Scene) -> Iterator[Row]:
    """All statistics, with the usual bound where there is one, and tuned in this very scene."""
    for way in STATISTICS:
        if way in USUAL_BOUND:
            yield rival(scene, way, USUAL_BOUND[way])
        yield rival(scene, way, None)


def river(scene: Scene, rng: np.random.Generator, months: int, changes: int) -> Iterator[Row]:
    """river's detectors over fewer months, because they take each answer by itself."""
    for way, maker in makers().items():
        calm = [
            count(rises(maker, one[HISTORY - WARM :], rng), after=WARM)
            for one in scene.months[:months]
        ]
        delays = empty()
        for rise in RISES:
            for change in [one for one in scene.changes if one.rise == rise][:changes]:
                before = scene.months[change.month][: change.at]
                delays[rise].append(river_delay(maker, before, change.after, rng))
        yield Row(way, scene.restless, scene.per_hour, len(calm), sum(calm) / len(calm), delays)


def empty() -> dict[float, list[float]]:
    """No delay of any rise yet."""
    return {rise: [] for rise in RISES}


def row_of(way: str, scene: Scene, false_alarms: float, delays: dict[float, list[float]]) -> Row:
    """The row of a way that saw the whole scene."""
    return Row(way, scene.restless, scene.per_hour, len(scene.months), false_alarms, delays)


def run(size: Size, seed: int) -> Iterator[Row | Adaptive]:
    """Everything, scene by scene."""
    for restless in (False, True):
        for per_hour in size.rates:
            rng = np.random.default_rng([seed, restless, per_hour])
            scene = make_scene(rng, restless, per_hour, size)
            yield ours(scene, DriftPolicy(), OURS)
            yield ours(scene, DriftPolicy(rule="window"), CLASSIC)
            yield from rivals(scene)
            yield from river(scene, rng, size.river_months, size.river_changes)
        rng = np.random.default_rng([seed, restless, 7])
        yield adaptive(
            rng,
            restless=restless,
            per_hour=200,
            months=size.months,
            changes=size.adaptive_changes,
            rises=RISES,
        )
