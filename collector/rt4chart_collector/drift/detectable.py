"""How small a rise can be and still be found in time, at what is sampled now."""

from __future__ import annotations

import math

from rt4chart_collector.drift.baseline import Baseline
from rt4chart_collector.drift.evidence import LAMBDAS, bounded
from rt4chart_collector.drift.policy import Policy

# Of the evidence that an alarm needs, what the sums have on an ordinary tick before anything rises
# (measured: docs/drift.md).
HEAD_START = 2.5


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
    needed = (Policy().page_at if page_at is None else page_at) - HEAD_START
    answers = answers_per_hour * minutes / 60
    if answers <= 0:
        return None
    each = max(needed, 0.0) / answers
    null = baseline.share + baseline.dead_band
    rises = [_rise(baseline, bounded(bet, min(null, 0.99)), each) for bet in LAMBDAS]
    found = min((rise for rise in rises if rise is not None), default=None)
    return found if found is not None and baseline.share + found < 1 else None


def _rise(baseline: Baseline, bet: float, each: float) -> float | None:
    """The rise at which this bet wins `each` an answer."""
    usual, rise = baseline.share, baseline.dead_band
    for _ in range(6):
        risen = min(usual + rise, 0.99)
        spread = baseline.variance * risen * (1 - risen) / (usual * (1 - usual))
        inner = 1 - 2 * each - bet * bet * spread
        if inner < 0:
            return None
        rise = baseline.dead_band + (1 - math.sqrt(inner)) / bet
    return rise
