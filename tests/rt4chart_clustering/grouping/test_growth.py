"""The sizes at which an issue is looked at anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.grouping.issue_state import growth_point


@pytest.mark.parametrize(
    ("claims", "point"),
    [(0, 0), (9, 0), (10, 10), (24, 10), (25, 25), (99, 50), (100, 100), (260_000, 250_000)],
)
def test_growth_points_are_a_tenth_a_quarter_and_a_half_of_each_power(
    claims: int, point: int
) -> None:
    """10, 25, 50, 100, 250 and so on."""
    assert growth_point(claims) == point


@given(st.integers(0, 10**9), st.integers(0, 10**6))
def test_more_claims_never_reach_less(claims: int, more: int) -> None:
    """And none reaches more than it has."""
    assert growth_point(claims) <= growth_point(claims + more)
    assert growth_point(claims) <= claims
