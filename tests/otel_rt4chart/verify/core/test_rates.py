from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.rates import (
    AnswerSums,
    Rate,
    claim_rate,
    part_rate,
    rank_correlation,
    undecided_rate,
    wilson,
)


def sums_of(answers: list[tuple[float, int, int]]) -> AnswerSums:
    """The sums over (weight, decided claims, unfaithful claims)."""
    return AnswerSums(
        answers=len(answers),
        claims=sum(m for _, m, _ in answers),
        wm=sum(w * m for w, m, _ in answers),
        wx=sum(w * x for w, _, x in answers),
        wwm=sum(w * w * m for w, m, _ in answers),
        wwxx=sum(w * w * x * x for w, _, x in answers),
        wwxm=sum(w * w * x * m for w, m, x in answers),
        wwmm=sum(w * w * m * m for w, m, _ in answers),
    )


def width(rate: Rate) -> float:
    """How wide the interval is."""
    assert rate.high is not None
    assert rate.low is not None
    return rate.high - rate.low


answers = st.lists(
    st.tuples(st.floats(1, 100), st.integers(1, 12)).flatmap(
        lambda pair: st.tuples(st.just(pair[0]), st.just(pair[1]), st.integers(0, pair[1]))
    ),
    min_size=1,
    max_size=60,
)


def test_rate_is_absent_where_no_claim_was_decided() -> None:
    """An answer without decided claims gives no number rather than a zero."""
    assert claim_rate(sums_of([(1.0, 0, 0)])) == Rate(None, None, None)


@pytest.mark.parametrize("weight", [1e300, 1e200, 1e154])
def test_rate_is_absent_where_a_weight_overflows(weight: float) -> None:
    """Sums that no float holds have no rate; they never raise."""
    sums = sums_of([(weight, 10**5, 1), (1.0, 2, 1)])

    unknown = Rate(None, None, None)
    assert claim_rate(sums) == unknown
    assert part_rate(sums, weight) == unknown
    assert undecided_rate(sums, 1, weight, weight * weight) == unknown


@given(answers)
def test_interval_holds_the_rate_and_stays_a_share(rows: list[tuple[float, int, int]]) -> None:
    """Whatever the weights, 0 ≤ low ≤ rate ≤ high ≤ 1."""
    rate = claim_rate(sums_of(rows))

    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    assert 0 <= rate.low <= rate.value + 1e-12
    assert rate.value <= rate.high + 1e-12
    assert rate.high <= 1


@given(answers, st.floats(0.1, 50))
def test_rate_ignores_a_common_factor_of_the_weights(
    rows: list[tuple[float, int, int]], factor: float
) -> None:
    """Sampling every route at a tenth must not change what is reported beside the counts."""
    scaled = [(w * factor, m, x) for w, m, x in rows]

    plain, weighted = claim_rate(sums_of(rows)), claim_rate(sums_of(scaled))

    assert weighted.value == pytest.approx(plain.value)
    assert weighted.low == pytest.approx(plain.low, abs=1e-6)


def test_interval_is_wider_where_claims_of_an_answer_stand_or_fall_together() -> None:
    """Twenty answers all bad or all good tell less than a hundred claims that vary freely."""
    together = [(1.0, 5, 5)] * 6 + [(1.0, 5, 0)] * 14
    spread = [(1.0, 5, 2)] * 10 + [(1.0, 5, 1)] * 10

    assert width(claim_rate(sums_of(together))) > 1.5 * width(claim_rate(sums_of(spread)))


def test_interval_covers_the_true_rate_in_nearly_all_repetitions() -> None:
    """With correlated claims the 95% interval holds the truth in 90 to 99% of 600 draws."""
    draw = random.Random(7)  # noqa: S311
    held = 0
    for _ in range(600):
        rows = []
        for _ in range(80):
            share = draw.betavariate(0.06 * 4, 0.94 * 4)  # intra-class correlation 0.2
            rows.append((1.0, 5, sum(draw.random() < share for _ in range(5))))
        rate = claim_rate(sums_of(rows))
        assert rate.low is not None
        assert rate.high is not None
        held += rate.low <= 0.06 <= rate.high

    assert 540 <= held <= 594


@pytest.mark.parametrize("answers_each", [5, 20, 40, 80])
@pytest.mark.parametrize("icc", [0.2, 0.5])
def test_interval_covers_the_true_rate_of_few_answers_too(answers_each: int, icc: float) -> None:
    """In 86 to 99% of 500 draws, however few the answers and however alike their claims."""
    draw = random.Random(5)  # noqa: S311
    spread = 1 / icc - 1
    held = 0
    for _ in range(500):
        shares = [draw.betavariate(0.06 * spread, 0.94 * spread) for _ in range(answers_each)]
        rows = [(1.0, 5, sum(draw.random() < share for _ in range(5))) for share in shares]
        rate = claim_rate(sums_of(rows))
        assert rate.low is not None
        assert rate.high is not None
        held += rate.low <= 0.06 <= rate.high

    assert 430 <= held <= 495


def test_wilson_agrees_with_the_published_example() -> None:
    """81 of 263: Newcombe (1998), Statistics in Medicine 17, table I, method 3."""
    low, high = wilson(81 / 263, 263)

    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(0.1, 10), (0.2, 20), (0.9, 21)], 1.0),
        ([(0.1, 9), (0.2, 5), (0.3, 1)], -1.0),
        ([(1, 1), (2, 1), (3, 2)], pytest.approx(3**0.5 / 2)),  # scipy.stats.spearmanr
        ([(1, 1), (2, 1), (3, 1)], None),
        ([(1, 1), (2, 2)], None),
    ],
)
def test_two_measures_may_order_things_alike(
    pairs: list[tuple[float, float]], expected: float | None
) -> None:
    """By ranks alone; where one orders nothing there is no saying."""
    assert rank_correlation(pairs) == expected


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=9))
def test_the_order_of_things_and_a_rising_scale_leave_their_correlation(
    pairs: list[tuple[int, int]],
) -> None:
    """It knows ranks, not values."""
    found = rank_correlation(pairs)
    scaled = rank_correlation([(left**3, 2 * right) for left, right in reversed(pairs)])

    assert scaled == (None if found is None else pytest.approx(found))
    assert (found is None) is any(len(set(side)) == 1 for side in zip(*pairs, strict=True))
    assert abs(found or 0.0) <= 1.0000001


@given(answers, st.floats(0, 1))
def test_parts_of_the_rate_add_up_to_it(rows: list[tuple[float, int, int]], part: float) -> None:
    """Contradicted and baseless apart, each a share with an interval around it."""
    sums = sums_of(rows)
    whole = claim_rate(sums)
    first, second = part_rate(sums, part * sums.wx), part_rate(sums, (1 - part) * sums.wx)

    assert whole.value == pytest.approx((first.value or 0) + (second.value or 0))
    for one in (first, second):
        assert one.low is not None
        assert one.high is not None
        assert 0 <= one.low <= (one.value or 0) + 1e-12 <= one.high + 2e-12 <= 1 + 2e-12


def test_a_part_has_the_interval_of_the_whole_where_it_is_all_of_it() -> None:
    """The design effect is that of the unfaithful claims; without claims there is no rate."""
    sums = sums_of([(1.0, 5, 5)] * 6 + [(2.0, 5, 0)] * 14)

    assert part_rate(sums, sums.wx) == claim_rate(sums)
    assert part_rate(sums_of([]), 0.0) == Rate(None, None, None)


def test_a_part_s_interval_covers_the_truth() -> None:
    """Where a third of the unfaithful claims are contradicted, in 90 to 99% of 600 draws."""
    draw = random.Random(11)  # noqa: S311
    held = 0
    for _ in range(600):
        rows, contradicted = [], 0
        for _ in range(120):
            share = draw.betavariate(0.09 * 4, 0.91 * 4)
            unfaithful = sum(draw.random() < share for _ in range(5))
            contradicted += sum(draw.random() < 1 / 3 for _ in range(unfaithful))
            rows.append((1.0, 5, unfaithful))
        rate = part_rate(sums_of(rows), contradicted)
        assert rate.low is not None
        assert rate.high is not None
        held += rate.low <= 0.03 <= rate.high

    assert 540 <= held <= 594


def test_undecided_claims_are_a_share_of_all() -> None:
    """Also where nothing was decided; weighted, and wider than if each stood for itself."""
    none = sums_of([(1.0, 0, 0)] * 4)

    found = undecided_rate(sums_of([(2.0, 4, 1)] * 10), 10, 20.0, 40.0)

    assert found.value == pytest.approx(20 / 100)
    assert width(found) > width(Rate(0.2, *wilson(0.2, 50)))
    assert undecided_rate(none, 8, 8.0, 8.0).value == 1.0
    assert undecided_rate(none, 0, 0.0, 0.0) == Rate(None, None, None)
