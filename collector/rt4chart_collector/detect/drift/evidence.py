"""The evidence of an e-detector for the mean of shares, and the smallest rise it can detect.

A Shiryaev-Roberts sum of betting e-values (arXiv 2203.03532): at each tick one unit is added, and
the total is multiplied by what the bets win. Without a rise no bet wins on average, whatever the
distribution, so the total grows by at most one unit per tick. All sums are kept as logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rt4chart_collector.detect.drift.baseline import Baseline, dead_band_allowance
from rt4chart_collector.detect.drift.policy import HOUR_NS, TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import Bin

# Large bets find large rises soonest, small bets small ones; their mean needs no tuning.
RISE_BETS = (0.8, 1.6, 3.0)
# The bets that a rate is back to normal: smaller, because a share far above the null costs most.
RECOVERY_BETS = (-0.3, -0.6, -0.9)
# An answer may cost a bet at most this part of its stake: a stake of zero could never recover.
LARGEST_LOSS = 0.9


@dataclass(frozen=True, slots=True)
class AccumulatedEvidence:
    """The evidence so far; a new one has none.

    `sums` are the logarithms of the sums, one for each bet. `climb` is what the middle bet has won
    since `since_ns`, the time at which it last had nothing: the beginning of a rise, if it is one.
    """

    sums: tuple[float, ...] = (-math.inf,) * len(RISE_BETS)
    since_ns: int = 0
    climb: float = 0.0

    @property
    def log(self) -> float:
        """The logarithm of the mean of the sums; 0 if below, where it says nothing about a rise."""
        return _log_of_mean(self.sums)


def step(
    evidence: AccumulatedEvidence,
    bins: Iterable[Bin],
    *,
    null: float,
    at_ns: int,
    scale: float | None = None,
) -> AccumulatedEvidence:
    """The evidence after one more tick, of answers all measured against one null.

    A tick in which no answer has a decided claim changes nothing.
    """
    won = log_gains(bins, null=null, scale=scale)
    return evidence if won is None else accumulate(evidence, won, at_ns=at_ns)


def log_gains(
    bins: Iterable[Bin],
    *,
    null: float,
    scale: float | None = None,
    bets: Sequence[float] = RISE_BETS,
) -> tuple[float, ...] | None:
    """The change of the logarithm of each bet's stake; None if no answer counts.

    `scale` is the smallest sampling rate in force, ideally known before the tick; the default is
    the smallest rate of an answer in the tick. An answer has the weight scale/rate, at most 1: a
    weight of 1/rate, as in the rates, could let one answer win or lose more than a whole stake.
    """
    counted = [
        bin_ for bin_ in bins if bin_.decided > 0 and bin_.answers > 0 and bin_.sample_rate > 0
    ]
    if not counted:
        return None
    least = scale if scale is not None else min(bin_.sample_rate for bin_ in counted)
    stakes = [bound_bet(bet, null) for bet in bets]
    won = [0.0] * len(stakes)
    for bin_ in sorted(counted, key=_order):
        distance = min(least / bin_.sample_rate, 1.0) * (bin_.counted / bin_.decided - null)
        for at, stake in enumerate(stakes):
            won[at] += bin_.answers * math.log1p(stake * distance)
    return tuple(won)


def accumulate(
    evidence: AccumulatedEvidence, won: Sequence[float], *, at_ns: int
) -> AccumulatedEvidence:
    """The sums after a tick that began at `at_ns` and in which the bets won `won`: (M + 1) * e."""
    sums = tuple(
        _log_of_one_more(log_sum) + gain for log_sum, gain in zip(evidence.sums, won, strict=True)
    )
    since_ns = evidence.since_ns if evidence.climb > 0 else at_ns
    return AccumulatedEvidence(sums, since_ns, max(evidence.climb + won[len(won) // 2], 0.0))


def bound_bet(bet: float, null: float) -> float:
    """The bet, reduced if one answer could otherwise cost more than `LARGEST_LOSS` of its stake."""
    worst = null if bet > 0 else 1 - null
    return math.copysign(min(abs(bet), LARGEST_LOSS / worst if worst > 0 else abs(bet)), bet)


@lru_cache(maxsize=64)
def _log_of_mean(sums: tuple[float, ...]) -> float:
    """log-sum-exp of the mean. Cached, because a tick needs the same value a dozen times."""
    top = max(sums)
    if top == -math.inf:
        return 0.0
    total = sum([math.exp(log_sum - top) for log_sum in sums])
    return max(top + math.log(total / len(sums)), 0.0)


def _log_of_one_more(log: float) -> float:
    """log(1 + exp(log)) without overflow."""
    return max(log, 0.0) + math.log1p(math.exp(-abs(log)))


def _order(bin_: Bin) -> tuple[int, int, float, int]:
    """A sort key: sums of floats depend on their order, and a replay must give equal findings."""
    return bin_.decided, bin_.counted, bin_.sample_rate, bin_.answers


# Before a rise the sums are about USUAL_SUM divided by the variance of a tick's answers: with fewer
# answers, added units last longer. Fitted to the simulation in docs/understand/drift.md, which has
# at least four answers a tick.
USUAL_SUM, LARGEST_USUAL_LOG = 12.0, 5.0


def smallest_rise(
    baseline: Baseline,
    answers_per_hour: float,
    minutes: float = 90,
    *,
    page_at: float | None = None,
) -> float | None:
    """The rise, a share of claims, of which half page within `minutes`; None if no rise does.

    `page_at` is the logarithm of the evidence that pages, by default for one false alarm a month on
    one route. The mean gain of an answer is nearly bet * rise - bet^2 / 2 * (variance + rise^2)
    (the second-order expansion of the logarithm). That is set equal to the evidence needed from
    each answer and solved for the rise; the variance grows with the rate.
    """
    answers = answers_per_hour * minutes / 60
    if answers <= 0:
        return None
    varies = baseline.variance * answers_per_hour * TICK_NS / HOUR_NS
    ordinary = min(max(math.log(USUAL_SUM / varies), 0.0), LARGEST_USUAL_LOG)
    needed = (DriftPolicy().page_at if page_at is None else page_at) - ordinary
    any_ = _smallest(baseline, 0.0, max(needed, 0.0) / answers)
    beyond = _smallest(
        baseline,
        baseline.dead_band,
        max(needed - dead_band_allowance(baseline.dead_band), 0.0) / answers,
    )
    if any_ is None or beyond is None or baseline.share + max(any_, beyond) >= 1:
        return None
    return max(any_, beyond)


def _smallest(baseline: Baseline, band: float, each: float) -> float | None:
    """The smallest rise at which one of the bets above this band wins `each` per answer."""
    null = min(baseline.share + band, 0.99)
    rises = (_rise(baseline, band, bound_bet(bet, null), each) for bet in RISE_BETS)
    return min((rise for rise in rises if rise is not None), default=None)


def _rise(baseline: Baseline, band: float, bet: float, each: float) -> float | None:
    usual, rise = baseline.share, band
    # The variance depends on the rise that is sought: six iterations of the fixed point suffice.
    for _ in range(6):
        risen = min(usual + rise, 0.99)
        variance = baseline.variance * risen * (1 - risen) / (usual * (1 - usual))
        inner = 1 - 2 * each - bet * bet * variance
        if inner < 0:
            return None
        rise = band + (1 - math.sqrt(inner)) / bet
    return rise
