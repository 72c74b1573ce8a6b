"""The e-detector's sums: what moves them, what does not, and that they stay finite."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.drift.evidence import (
    RECOVERY_BETS,
    RISE_BETS,
    AccumulatedEvidence,
    log_gains,
    step,
)
from rt4chart_collector.store.rates.ticks import Bin
from tests.rt4chart_collector.detect.drift.routes import drawn, seeded

SHARES = st.sampled_from([0.01, 0.05, 0.2, 0.5, 1.0])
BINS = st.builds(
    lambda decided, part, answers, rate: Bin(decided, round(decided * part), answers, rate),
    st.integers(1, 20),
    st.floats(0, 1),
    st.integers(1, 10**6),
    SHARES,
)
WEIGHTLESS = st.lists(
    st.sampled_from([Bin(0, 0, 7, 0.5), Bin(5, 1, 0, 0.5), Bin(5, 5, 3, 0.0)]), max_size=3
)


@given(st.lists(st.lists(BINS, max_size=6), max_size=6), st.floats(0.001, 0.99))
def test_sums_stay_finite_whatever_comes(ticks: list[list[Bin]], null: float) -> None:
    """Millions of answers a tick, all of them wrong or none, overflow nothing and lose no stake."""
    evidence = AccumulatedEvidence()
    for at, bins in enumerate(ticks):
        evidence = step(evidence, bins, null=null, at_ns=at)

    assert math.isfinite(evidence.log)
    assert evidence.log >= 0
    assert not any(math.isnan(one) or one == math.inf for one in evidence.sums)


@given(st.lists(BINS, max_size=8), WEIGHTLESS, st.randoms(use_true_random=False))
def test_order_and_weightless_bins_do_not_matter(
    bins: list[Bin], weightless: list[Bin], random: Random
) -> None:
    """Bins in another order, and with them bins of no answer, claim or weight, say the same."""
    other = [*bins, *weightless]
    random.shuffle(other)

    assert step(AccumulatedEvidence(), other, null=0.06, at_ns=1) == step(
        AccumulatedEvidence(), bins, null=0.06, at_ns=1
    )


@given(WEIGHTLESS)
def test_a_tick_without_weight_changes_nothing(bins: list[Bin]) -> None:
    """An empty tick neither adds to the sums nor moves the start."""
    before = step(AccumulatedEvidence(), [Bin(5, 1, 9, 0.5)], null=0.06, at_ns=1)

    assert step(before, bins, null=0.06, at_ns=2) == before


def test_the_first_tick_by_hand() -> None:
    """One answer with two of five claims wrong: each sum is a bet's factor."""
    evidence = step(AccumulatedEvidence(), [Bin(5, 2, 1, 1.0)], null=0.1, at_ns=7)

    factors = [1 + bet * 0.3 for bet in RISE_BETS]
    assert [math.exp(one) for one in evidence.sums] == pytest.approx(factors)
    assert evidence.log == pytest.approx(math.log(sum(factors) / 3))
    assert evidence.since_ns == 7
    assert evidence.climb == pytest.approx(math.log(factors[1]))


def test_an_answer_weighs_by_the_rate_in_force() -> None:
    """An answer of a rule of risk (rate 1) weighs a tenth where one in ten is sampled."""
    won = log_gains([Bin(5, 5, 1, 1.0)], null=0.1, scale=0.1)

    assert won == pytest.approx([math.log1p(bet * 0.1 * 0.9) for bet in RISE_BETS])


def test_risk_samples_give_no_evidence_of_their_own() -> None:
    """Where risky answers are all verified and the rest in ten, weights keep the sums in bounds."""
    random, evidence = seeded(5), AccumulatedEvidence()
    null = (0.05 * 0.4 + 0.95 * 0.04) * 1.0
    for at in range(3000):
        bins = drawn(random, 10, 0.4) + drawn(random, 19, 0.04, 0.1)
        evidence = step(evidence, bins, null=null, at_ns=at)

        assert evidence.log < math.log(3000) + 3


@pytest.mark.parametrize("seed", range(4))
def test_sums_grow_by_one_a_tick_at_most_on_average(seed: int) -> None:
    """Over many short runs at the null the mean of the sums is about the number of ticks."""
    random, runs, ticks = seeded(seed), 150, 12
    total = 0.0
    for _ in range(runs):
        evidence = AccumulatedEvidence()
        for at in range(ticks):
            evidence = step(evidence, drawn(random, 8, 0.06), null=0.06, at_ns=at)
        total += sum(math.exp(one) for one in evidence.sums) / 3

    assert total / runs < 2 * ticks


def test_a_rise_is_dated_where_it_began() -> None:
    """The start lies within some ticks of the true one."""
    random, evidence = seeded(3), AccumulatedEvidence()
    for at in range(120):
        bins = drawn(random, 60, 0.06 if at < 80 else 0.16)
        evidence = step(evidence, bins, null=0.06, at_ns=at)

    assert evidence.log > 9
    assert 76 <= evidence.since_ns <= 83


def test_bets_that_a_rate_is_back_win_below_the_null_only() -> None:
    """The backward bets gain where shares lie below the null and lose above it."""
    below, above = [Bin(5, 0, 9, 1.0)], [Bin(5, 3, 9, 1.0)]

    assert min(log_gains(below, null=0.08, bets=RECOVERY_BETS) or ()) > 0
    assert max(log_gains(above, null=0.08, bets=RECOVERY_BETS) or ()) < 0
