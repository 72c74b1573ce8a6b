"""The sums over answers' shares, and the means and errors that follow from them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.drift.shares import Shares, shares_of
from rt4chart_collector.store.rates.ticks import Bin

BINS = st.lists(
    st.builds(
        lambda decided, part, answers, rate: Bin(decided, min(part, decided), answers, rate),
        st.integers(0, 6),
        st.integers(0, 6),
        st.integers(1, 9),
        st.sampled_from([1.0, 0.5, 0.1, 0.0]),
    ),
    max_size=12,
)


def test_an_answer_that_was_sampled_rarely_counts_for_more() -> None:
    """Ten answers without and one with counted claims, the latter standing for ten."""
    shares = shares_of([Bin(5, 0, 10, 1.0), Bin(4, 4, 1, 0.1)])

    assert shares.mean == pytest.approx(0.5)
    assert shares.size == pytest.approx(400 / 110)
    assert shares.answers == 11


def test_nothing_is_known_without_an_answer() -> None:
    """Nor where no claim was decided, or the sample rate is not known."""
    for bins in ([], [Bin(0, 0, 3, 1.0)], [Bin(2, 1, 3, 0.0)]):
        shares = shares_of(bins)

        assert (shares.answers, shares.size, shares.mean) == (0, 0.0, 0.0)
        assert shares.likely_mean == 0.5
        assert shares.error == math.inf


@given(BINS, BINS)
def test_sums_add_up_and_can_be_taken_away(one: list[Bin], other: list[Bin]) -> None:
    """In any split of the answers."""
    whole = shares_of(one + other)
    added = shares_of(one).plus(shares_of(other))
    rest = added.plus(shares_of(other), -1)

    assert whole.answers == added.answers
    assert added.weight == pytest.approx(whole.weight)
    assert added.squares == pytest.approx(whole.squares)
    assert rest.shares == pytest.approx(shares_of(one).shares, abs=1e-9)


@given(BINS)
def test_likely_values_are_never_those_of_certainty(bins: list[Bin]) -> None:
    """The mean is inside of 0 and 1, the variance of a share at most a quarter and above zero."""
    shares = shares_of(bins)

    assert 0 < shares.likely_mean < 1
    assert 0 < shares.likely_variance <= 0.25 + 1e-9
    assert shares.error > 0
    assert shares == Shares() or shares.size <= shares.answers + 1e-9
