from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.rates.distributions import (
    beta_cdf,
    beta_quantile,
    t_quantile,
)


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [(1, 12.7062), (2, 4.3027), (5, 2.5706), (10, 2.2281), (24, 2.0639), (120, 1.9799)],
)
def test_t_quantile_agrees_with_the_printed_table(degrees: int, expected: float) -> None:
    """The two-sided 95% points of any statistics textbook."""
    assert t_quantile(0.975, degrees) == pytest.approx(expected, abs=1e-4)


@given(st.integers(1, 80), st.floats(0.01, 0.99), st.data())
def test_binomial_tail_agrees_with_the_sum_of_its_terms(
    trials: int, p: float, data: st.DataObject
) -> None:
    """The incomplete beta function gives what adding up the probabilities gives."""
    hits = data.draw(st.integers(0, trials))

    summed = sum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(hits + 1))

    tail = 1 - beta_cdf(p, hits + 1, trials - hits) if hits < trials else 1.0
    assert tail == pytest.approx(summed, abs=1e-9)


@given(st.floats(0.01, 0.99), st.floats(0.5, 300), st.floats(0.5, 300))
def test_beta_quantile_inverts_the_distribution(p: float, a: float, b: float) -> None:
    """The probability of the quantile is the one that was asked for."""
    assert beta_cdf(beta_quantile(p, a, b), a, b) == pytest.approx(p, abs=1e-6)
