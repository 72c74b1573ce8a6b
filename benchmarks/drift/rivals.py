"""The other ways to find a rise, each as one number a tick: the larger, the more of an alarm.

All of them get the same baseline, the trailing fourteen days anew each day; none knows that days
differ. A rival's bound is the usual one or found so that it alarms falsely once a route-month.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.drift.world import CLAIMS, DAY, HOUR, Counts, Floats, chances
from rt4chart_collector.detect.drift.baseline import TRAILING_NS
from rt4chart_collector.detect.drift.policy import DAY_NS

DESIGN = 1.8  # of five claims with a correlation of 0.2
TRAILING = TRAILING_NS // DAY_NS * DAY
UNFAITHFUL = np.arange(CLAIMS + 1)
Statistic = Callable[[Counts], Floats]


def window(values: Floats, ticks: int) -> Floats:
    """The sum over the last so many ticks, this one too."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    return np.asarray(total[ends] - total[np.maximum(ends - ticks, 0)])


def claims_of(counts: Counts) -> tuple[Floats, Floats]:
    """Unfaithful claims and claims of each tick."""
    return (counts @ UNFAITHFUL).astype(float), counts.sum(axis=1) * float(CLAIMS)


def baselines(counts: Counts) -> Floats:
    """The rate of the trailing fourteen days at each tick, made anew each day."""
    bad, all_ = claims_of(counts)
    rate = window(bad, TRAILING) / np.maximum(window(all_, TRAILING), 1)
    # The first day, which has none before it, is given its own.
    starts = np.maximum(np.arange(len(rate)) // DAY * DAY, DAY) - 1
    return np.asarray(np.clip(rate[starts], 0.001, 0.5))


def z_window(counts: Counts, *, design: float, ticks: int = HOUR) -> Floats:
    """How many standard errors the last hour lies above the baseline."""
    bad, all_ = (window(one, ticks) for one in claims_of(counts))
    usual = baselines(counts)
    error = np.sqrt(design * usual * (1 - usual) / np.maximum(all_, 1))
    return np.asarray((bad / np.maximum(all_, 1) - usual) / error)


def two_proportion(counts: Counts) -> Floats:
    """The last hour against the 24 hours before it, pooled variance times the design effect."""
    bad, all_ = claims_of(counts)
    now_bad, now = window(bad, HOUR), np.maximum(window(all_, HOUR), 1)
    then_bad = window(bad, DAY + HOUR) - now_bad
    then = np.maximum(window(all_, DAY + HOUR) - now, 1)
    pooled = np.clip((now_bad + then_bad) / (now + then), 1e-4, 1 - 1e-4)
    error = np.sqrt(DESIGN * pooled * (1 - pooled) * (1 / now + 1 / then))
    return np.asarray((now_bad / now - then_bad / then) / error)


def burn_rate(counts: Counts) -> Floats:
    """Burn rates of both windows (1 h and 5 min, or 6 h and 30 min), the smaller; in baselines.

    The pairs of the SRE workbook. Its bounds of 14.4 and 6 are for objectives of 99.9%, so here it
    is the bound of the long pair, and the short pair's is to it as 14.4 to 6.
    """
    bad, all_ = claims_of(counts)
    usual = baselines(counts)

    def burn(ticks: int) -> Floats:
        return np.asarray(window(bad, ticks) / np.maximum(window(all_, ticks), 1) / usual)

    fast = np.minimum(burn(HOUR), burn(1)) * 6 / 14.4
    return np.asarray(np.maximum(fast, np.minimum(burn(6 * HOUR), burn(6))))


def cusum(counts: Counts, *, rise: float = 0.03) -> Floats:
    """The best CUSUM there is for this world: it knows how claims cluster and the rise to find."""
    usual = baselines(counts)
    tables = {p: np.log(chances(p + rise) / chances(p)) for p in np.unique(usual).tolist()}
    gains = [float(row @ tables[p]) for row, p in zip(counts, usual.tolist(), strict=True)]
    sums, held = [], 0.0
    for gain in gains:
        held = max(held + gain, 0.0)
        sums.append(held)
    return np.array(sums)


STATISTICS: dict[str, Statistic] = {
    "z 60 min, claims taken as independent": lambda c: z_window(c, design=1.0),
    "z 60 min, design effect": lambda c: z_window(c, design=DESIGN),
    "two proportions, 60 min and 24 h before": two_proportion,
    "SRE burn rates, 1 h & 5 min, 6 h & 30 min": burn_rate,
    "CUSUM, beta-binomial, to +3 points": cusum,
}
USUAL_BOUND = {"z 60 min, claims taken as independent": 3.0, "z 60 min, design effect": 3.0}


def bound_for(peaks: list[Floats], allowed: float) -> float:
    """The bound that these route-months pass `allowed` times each on average; see `alarms`."""
    low, high = 0.0, max(float(np.nanmax(one)) for one in peaks) + 1
    for _ in range(30):
        middle = (low + high) / 2
        if sum(alarms(one, middle) for one in peaks) > allowed * len(peaks):
            low = middle
        else:
            high = middle
    return high


def alarms(statistic: Floats, bound: float) -> int:
    """How often the bound is reached, what follows within six hours not counted again."""
    over, count, free = np.flatnonzero(statistic >= bound), 0, -1
    for at in over.tolist():
        if at > free:
            count, free = count + 1, at + 6 * HOUR
    return count


def delay(statistic: Floats, bound: float) -> float:
    """Minutes until the bound is reached; infinite where it is not."""
    over = np.flatnonzero(statistic >= bound)
    return (int(over[0]) + 1) * 5.0 if len(over) else math.inf
