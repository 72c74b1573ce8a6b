"""Tails and quantiles of the beta and of Student's t distribution."""

from __future__ import annotations

import math
from functools import lru_cache

# Pseudo-labels of each kind for a share: Kerman's neutral prior (2011), whose median is close to
# the observed share. Without it, ten right verdicts of ten would have an interval of width zero.
NEUTRAL = 1 / 3
_STEPS = 200
_TINY = 1e-300
_PRECISION = 1e-14
_CLOSE = 1e-12


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function: the chance of at most x under Beta(a, b).

    By its continued fraction (Lentz's method; Press et al., Numerical Recipes, section 6.4).
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    factor = _beta_factor(x, a, b)
    if x < (a + 1) / (a + b + 2):
        return min(factor * _continued_fraction(x, a, b) / a, 1.0)
    return max(1 - factor * _continued_fraction(1 - x, b, a) / b, 0.0)


def _beta_factor(x: float, a: float, b: float) -> float:
    """The density times x · (1 - x)."""
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(logarithm + a * math.log(x) + b * math.log1p(-x))


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
    """The x with `beta_cdf(x, a, b) == p`: Newton's steps, halves where they leave."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(100):
        excess = beta_cdf(x, a, b) - p
        low, high = (low, x) if excess > 0 else (x, high)
        if abs(excess) < _CLOSE or high - low < _CLOSE * high:
            break
        factor = _beta_factor(x, a, b)
        step = excess * x * (1 - x) / factor if factor > 0 else math.inf
        x = x - step if low < x - step < high else (low + high) / 2
    return x


def t_quantile(p: float, degrees: float) -> float:
    """The quantile of Student's t distribution, for p of at least one half."""
    tail = beta_quantile(2 * (1 - p), degrees / 2, 0.5)
    return math.sqrt(degrees * (1 / tail - 1)) if tail > 0 else math.inf


@lru_cache(maxsize=256)
def t_95(degrees: int) -> float:
    """The end of a two-sided 95% interval in standard errors."""
    return t_quantile(0.975, degrees)
