"""When a rise began: of the ticks that the detector names, the one that parts them best."""

from __future__ import annotations

from collections.abc import Sequence

from rt4chart_collector.store.ticks import Tick

# Each round takes the rate after the last one's beginning; it settles at once, or nearly.
ROUNDS = 4


def rise_began(ticks: Sequence[Tick], usual: float, *, since_ns: int) -> int:
    """The start of the tick from which on answers lie most above the middle of before and after.

    `usual` is the share of unfaithful claims before. The detector's own beginning, `since_ns`, is
    when its evidence began to climb, which is early where a little chance went before.
    """
    late = sorted((one for one in ticks if one.start_ns >= since_ns), key=lambda t: t.start_ns)
    began = since_ns
    for _ in range(ROUNDS):
        weight, mean = _mean([one for one in late if one.start_ns >= began])
        if weight <= 0 or mean <= usual:
            return since_ns
        found = _best(late, (usual + mean) / 2, since_ns)
        if found == began:
            break
        began = found
    return began


def _best(ticks: Sequence[Tick], middle: float, otherwise: int) -> int:
    best, most, above = otherwise, 0.0, 0.0
    for tick in reversed(ticks):
        weight, mean = _mean([tick])
        above += weight * (mean - middle)
        if above > most:
            best, most = tick.start_ns, above
    return best


def _mean(ticks: Sequence[Tick]) -> tuple[float, float]:
    """What the answers stand for, and the weighted mean of their shares."""
    weight = shares = 0.0
    for tick in ticks:
        for one in tick.bins:
            if one.decided > 0 and one.sample_rate > 0:
                weight += one.answers / one.sample_rate
                shares += one.answers / one.sample_rate * one.unfaithful / one.decided
    return weight, shares / weight if weight > 0 else 0.0
