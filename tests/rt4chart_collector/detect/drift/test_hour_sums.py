"""The sums of an hour."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.drift.hour_sums import hour_sums, total_sums
from rt4chart_collector.store.rates.ticks import Bin, answer_sums
from tests.rt4chart_collector.detect.drift.routes import BINS


def test_answers_without_a_decided_claim_are_left_out() -> None:
    """And those without a sample rate: they have no share and no weight."""
    found = hour_sums([Bin(0, 0, 4, 1.0, "how"), Bin(3, 1, 2, 0.0, "why"), Bin(3, 1, 0, 1.0)])

    assert found.kinds == {}
    assert found.whole.answers == found.claims.answers == 0
    assert total_sums([]) == answer_sums([])


@given(BINS, BINS, st.randoms(use_true_random=False))
def test_the_sums_of_an_hour_are_those_of_its_answers(
    one: list[Bin], other: list[Bin], random: Random
) -> None:
    """Whatever their order and in however many ticks they came."""
    shuffled = sorted(one + other, key=lambda _: random.random())

    whole, added = hour_sums(shuffled), hour_sums(one).plus(hour_sums(other))

    assert whole == hour_sums(one + other)
    assert whole.claims.claims == added.claims.claims == answer_sums(one + other).claims
    assert added.claims.wwxm == pytest.approx(answer_sums(one + other).wwxm)
    assert added.kinds.keys() == whole.kinds.keys() == {bin_.kind for bin_ in one + other}
    assert sum(sums.answers for sums in added.kinds.values()) == added.whole.answers
