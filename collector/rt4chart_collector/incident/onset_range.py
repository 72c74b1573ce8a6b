"""When a rise began, as an interval. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rt4chart_collector.detect.drift.shares import Shares, shares_of, total
from rt4chart_collector.store.rates.ticks import TICK_NS, Tick

# Rates of 0 and 1 would exclude what was seen once.
LEAST_RATE = 0.002
# The probability on each side of the interval, which has 95%.
OUTSIDE = 0.025
# Two rates as close as this say nothing of when one became the other.
LEAST_RISE = 0.001


@dataclass(frozen=True, slots=True)
class OnsetRange:
    """The 95% interval of a rise's beginning."""

    low_ns: int
    high_ns: int


def onset_range(
    ticks: Sequence[Tick], *, since_ns: int, before: float, begin_ns: int, until_ns: int
) -> OnsetRange | None:
    """The interval of the beginning, among the ticks in [begin_ns, until_ns); None if unknown.

    `before` is the usual share of counted claims, `since_ns` where the rise was found to begin. A
    change from the share before to the share since is equally likely at each tick beforehand; what
    the answers say of each follows from Bernoulli's likelihood of an answer's share, as for the
    claims of one answer that err together.
    """
    sums = _by_tick(ticks, begin_ns, until_ns)
    after = total(one for at_ns, one in sums.items() if at_ns >= since_ns)
    usual, risen = (min(max(one, LEAST_RATE), 1 - LEAST_RATE) for one in (before, after.mean))
    if not after.answers or risen - usual < LEAST_RISE:
        return None
    times = range(begin_ns // TICK_NS * TICK_NS, until_ns, TICK_NS)
    if not times:
        return None
    # What a tick says for a beginning after it: each of its answers is then of the usual rate.
    counted, other = math.log(usual / risen), math.log((1 - usual) / (1 - risen))
    gains = [_gain(sums[at_ns], counted, other) if at_ns in sums else 0.0 for at_ns in times]
    logs = [0.0, *accumulate(gains)][:-1]
    most = max(logs)
    likely = [math.exp(one - most) for one in logs]
    below = list(accumulate(likely))
    low = next(at for at, one in enumerate(below) if one > OUTSIDE * below[-1])
    high = next(at for at, one in enumerate(below) if one >= (1 - OUTSIDE) * below[-1])
    return OnsetRange(min(times[low], since_ns), max(times[high] + TICK_NS, since_ns))


def _gain(sums: Shares, counted: float, other: float) -> float:
    failed = sums.mean * sums.answers
    return failed * counted + (sums.answers - failed) * other


def _by_tick(ticks: Sequence[Tick], begin_ns: int, until_ns: int) -> dict[int, Shares]:
    found: defaultdict[int, Shares] = defaultdict(Shares)
    for tick in ticks:
        if begin_ns <= tick.start_ns < until_ns:
            found[tick.start_ns] = found[tick.start_ns].plus(shares_of(tick.bins))
    return dict(found)
