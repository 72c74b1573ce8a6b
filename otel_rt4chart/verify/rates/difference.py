"""The difference of two rates with a 95% interval, over one route or over several alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.verify.core.rates import Z_95, Rate, rate_of_size

UNKNOWN = Rate(None, None, None)
# The quantile of the normal distribution for a power of 80%: a difference is told in 4 of 5 cases.
Z_80 = 0.8416212335729143


@dataclass(frozen=True, slots=True)
class RateDifference:
    """Rate b minus rate a, from -1 to 1, with its 95% interval; all None if a rate is unknown."""

    value: float | None
    low: float | None
    high: float | None

    @property
    def is_rise(self) -> bool:
        """True if b is higher, beyond what chance explains."""
        return self.low is not None and self.low > 0

    @property
    def is_fall(self) -> bool:
        """True if b is lower, beyond what chance explains."""
        return self.high is not None and self.high < 0


class _Measured(NamedTuple):
    """A rate that is known, with the effective number of its claims."""

    value: float
    low: float
    high: float
    size: float


def rate_difference(a: Rate, b: Rate) -> RateDifference:
    """The difference of two independent rates, from their intervals.

    Newcombe's hybrid score interval (1998, Interval estimation for the difference between
    independent proportions, method 10): each limit is as far from the difference as the two limits
    of the rates that it depends on are from their rates, added in squares. Those limits account for
    claims of one answer and for unequal weights, so this interval does too.
    """
    first, second = _measured(a), _measured(b)
    if first is None or second is None:
        return RateDifference(None, None, None)
    value = second.value - first.value
    below = math.hypot(second.value - second.low, first.high - first.value)
    above = math.hypot(second.high - second.value, first.value - first.low)
    return RateDifference(value, max(value - below, -1.0), min(value + above, 1.0))


def standardised(pairs: Sequence[tuple[Rate, Rate]]) -> tuple[Rate, Rate]:
    """Rates a and b over several routes, each with the same weight in both; a pair is one route.

    The weight is n_a · n_b / (n_a + n_b), with the effective numbers of claims (Cochran 1954, Some
    methods for strengthening the common χ² tests): a route counts by what is known of it in both,
    and a change of traffic between routes is no difference. Routes where a rate is unknown are left
    out; both are unknown where none remains.
    """
    known = [
        (first, second)
        for a, b in pairs
        if (first := _measured(a)) is not None and (second := _measured(b)) is not None
    ]
    if not known:
        return UNKNOWN, UNKNOWN
    common = [1 / (1 / first.size + 1 / second.size) for first, second in known]
    weights = [one / math.fsum(common) for one in common]
    return (
        _weighted([first for first, _ in known], weights),
        _weighted([second for _, second in known], weights),
    )


def answers_to_tell(a: Rate, b: Rate, answers: tuple[int, int], points: float) -> int | None:
    """How many more answers each version needs for a difference of `points` (0 to 1) to be told.

    0 if they have enough; None where a rate is unknown. Told means with a power of 80%, and at the
    same number of effective claims for each answer. A rate counts as the centre of its interval, so
    that none is 0.
    """
    first, second = _measured(a), _measured(b)
    n, m = answers
    if first is None or second is None or min(n, m) <= 0 or points <= 0:
        return None
    # The variances of the rates are u / n and v / m.
    u, v = _variance(first) * n, _variance(second) * m
    goal = (points / (Z_95 + Z_80)) ** 2
    if u / n + v / m <= goal:
        return 0
    # u / (n + x) + v / (m + x) = goal: a quadratic equation with one positive root.
    half = (goal * (n + m) - u - v) / 2
    rest = goal * n * m - u * m - v * n
    return math.ceil((math.sqrt(half * half - goal * rest) - half) / goal)


def _measured(rate: Rate) -> _Measured | None:
    """The rate, None where it is unknown or of an interval without a number of claims."""
    if rate.value is None or rate.low is None or rate.high is None or not rate.size:
        return None
    # Wilson's limits contain the rate but for rounding.
    low, high = min(rate.low, rate.value), max(rate.high, rate.value)
    return _Measured(rate.value, low, high, rate.size)


def _weighted(rates: Sequence[_Measured], weights: Sequence[float]) -> Rate:
    """The weighted mean of the rates, for the number of claims that gives it their variance.

    The variance is at least that at one common rate: that a small route has no failure yet is no
    proof that it has none.
    """
    both = list(zip(rates, weights, strict=True))
    value = math.fsum(weight * rate.value for rate, weight in both)
    alike = math.fsum(weight * weight / rate.size for rate, weight in both)
    own = math.fsum(weight * weight * _binomial(rate) for rate, weight in both)
    return rate_of_size(value, min(1 / alike, value * (1 - value) / own) if own else 1 / alike)


def _binomial(rate: _Measured) -> float:
    return max(rate.value * (1 - rate.value), 0.0) / rate.size


def _variance(rate: _Measured) -> float:
    """The variance at Wilson's centre, which is never that of a rate of 0 or 1."""
    centre = (rate.value * rate.size + Z_95**2 / 2) / (rate.size + Z_95**2)
    return centre * (1 - centre) / rate.size
