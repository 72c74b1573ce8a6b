"""How small a rise can be and still be found in time, at what is sampled now."""

from __future__ import annotations

import math

from rt4chart_collector.drift.baseline import Baseline, edge
from rt4chart_collector.drift.evidence import LAMBDAS, bounded
from rt4chart_collector.drift.policy import HOUR_NS, TICK_NS, Policy

# Before anything rises the sums are about this, divided by what a tick's answers vary: the fewer
# answers, the longer what was added is kept (fitted to the simulation in docs/drift.md, which has
# four answers a tick at least).
ORDINARY, LARGEST_ORDINARY = 12.0, 5.0


def smallest_rise(
    baseline: Baseline,
    answers_per_hour: float,
    minutes: float = 90,
    *,
    page_at: float | None = None,
) -> float | None:
    """The rise, a share of claims, of which half are paged within `minutes`; None where none is.

    `page_at` is the logarithm of the evidence that pages, by default one false alarm a month on one
    route. An answer wins bet * rise - bet^2 / 2 * (variance + rise^2) nearly, so that the evidence
    needed of each answer is solved for the rise; the variance grows with the rate.
    """
    answers = answers_per_hour * minutes / 60
    if answers <= 0:
        return None
    varies = baseline.variance * answers_per_hour * TICK_NS / HOUR_NS
    ordinary = min(max(math.log(ORDINARY / varies), 0.0), LARGEST_ORDINARY)
    needed = (Policy().page_at if page_at is None else page_at) - ordinary
    any_ = _smallest(baseline, 0.0, max(needed, 0.0) / answers)
    beyond = _smallest(
        baseline, baseline.dead_band, max(needed - edge(baseline.dead_band), 0.0) / answers
    )
    if any_ is None or beyond is None or baseline.share + max(any_, beyond) >= 1:
        return None
    return max(any_, beyond)


def _smallest(baseline: Baseline, band: float, each: float) -> float | None:
    """The smallest rise at which one of the bets above this band wins `each` an answer."""
    null = min(baseline.share + band, 0.99)
    rises = (_rise(baseline, band, bounded(bet, null), each) for bet in LAMBDAS)
    return min((rise for rise in rises if rise is not None), default=None)


def _rise(baseline: Baseline, band: float, bet: float, each: float) -> float | None:
    usual, rise, variance = baseline.share, band, baseline.variance
    usually, left, squared = usual * (1 - usual), 1 - 2 * each, bet * bet
    for _ in range(6):
        risen = min(usual + rise, 0.99)
        inner = left - squared * (variance * risen * (1 - risen) / usually)
        if inner < 0:
            return None
        rise = band + (1 - math.sqrt(inner)) / bet
    return rise
