"""river's ADWIN and Page-Hinkley over the same answers; only where river is installed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from benchmarks.drift.world import CLAIMS, DAY, HOUR, Counts

MISSING = "river is not installed here (pip install river), so ADWIN and Page-Hinkley are left out."
WARM = 3 * DAY


class Detector(Protocol):
    """What river's drift detectors have that is used here."""

    drift_detected: bool

    def update(self, x: float) -> object:
        """Take one answer's share."""


Maker = Callable[[], Detector]


def makers() -> dict[str, Maker]:
    """ADWIN and Page-Hinkley with river's defaults, and the latter set for shares; none without."""
    try:
        drift = importlib.import_module("river.drift")
    except ImportError:
        return {}
    return {
        "ADWIN (river), delta 0.002": drift.ADWIN,
        "Page-Hinkley (river), its defaults": lambda: drift.PageHinkley(mode="up"),
        "Page-Hinkley (river), delta 0.015, threshold 8": lambda: drift.PageHinkley(
            delta=0.015, threshold=8.0, mode="up"
        ),
    }


def rises(maker: Maker, counts: Counts, rng: np.random.Generator) -> list[int]:
    """The ticks in which a fresh detector sees a rise; ADWIN sees falls too, which are left out."""
    detector, found = maker(), []
    shares = np.arange(CLAIMS + 1) / CLAIMS
    for at, row in enumerate(counts):
        rose = False
        for share in rng.permutation(np.repeat(shares, row)).tolist():
            before = getattr(detector, "estimation", -math.inf)
            detector.update(share)
            rose |= detector.drift_detected and getattr(detector, "estimation", 0.0) > before
        if rose:
            found.append(at)
    return found


def count(ticks: list[int], *, after: int) -> int:
    """How many of these alarms there are after a tick, those within six hours of one left out."""
    total, free = 0, after - 1
    for at in ticks:
        if at > free:
            total, free = total + 1, at + 6 * HOUR
    return total


def delay(maker: Maker, before: Counts, after: Counts, rng: np.random.Generator) -> float:
    """Minutes from a change until the first alarm, of a detector that saw the days before."""
    found = [
        at
        for at in rises(maker, np.concatenate([before[-WARM:], after]), rng)
        if at >= len(before[-WARM:])
    ]
    return (found[0] - len(before[-WARM:]) + 1) * 5.0 if found else math.inf
