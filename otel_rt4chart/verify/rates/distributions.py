"""Tails and quantiles of the beta, the binomial and Student's t distribution."""

from __future__ import annotations

import math

_STEPS = 200
_TINY = 1e-300
_PRECISION = 1e-14


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function: the chance of at most x under Beta(a, b).

    By its continued fraction (Lentz's method; Press et al., Numerical Recipes, section 6.4).
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    factor = math.exp(log_factor + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return min(factor * _continued_fraction(x, a, b) / a, 1.0)
    return max(1 - factor * _continued_fraction(1 - x, b, a) / b, 0.0)


def _continued_fraction(x: float, a: float, b: float) -> float:
    upper, lower = 1.0, _not_zero(1 - (a + b) * x / (a + 1))
    lower = 1 / lower
    found = lower
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower = 1 / _not_zero(1 + term * lower)
            upper = _not_zero(1 + term / upper)
            found *= lower * upper
        if abs(lower * upper - 1) < _PRECISION:
            break
    return found


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def beta_quantile(p: float, a: float, b: float) -> float:
    """The x with `beta_cdf(x, a, b) == p`, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if beta_cdf(middle, a, b) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def t_quantile(p: float, degrees: float) -> float:
    """The quantile of Student's t distribution, for p of at least one half."""
    tail = beta_quantile(2 * (1 - p), degrees / 2, 0.5)
    return math.sqrt(degrees * (1 / tail - 1)) if tail > 0 else math.inf


def binomial_at_most(hits: int, trials: int, p: float) -> float:
    """The chance of at most so many hits in independent trials of probability p."""
    return 1.0 if hits >= trials else 1 - beta_cdf(p, hits + 1, trials - hits)
