"""The difference of two rates: its interval, how often that holds it, and routes weighed alike."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate, rate_of_size
from otel_rt4chart.verify.rates.difference import (
    UNKNOWN,
    RateDifference,
    answers_to_tell,
    rate_difference,
    standardised,
)

measured = st.builds(rate_of_size, st.floats(0, 1), st.floats(1, 10_000))
routes = st.lists(st.tuples(measured, measured), min_size=1, max_size=5)


def drawn(
    chance: random.Random, answers: int, rate: float, icc: float, rates: tuple[float, ...] = (1.0,)
) -> AnswerSums:
    """Sums of answers with 1 to 9 claims, those of one answer correlated, sampled at `rates`."""
    rows = []
    for _ in range(answers):
        share = (
            chance.betavariate(rate * (1 / icc - 1), (1 - rate) * (1 / icc - 1)) if icc else rate
        )
        claims = chance.randint(1, 9)
        weight = 1 / chance.choice(rates)
        rows.append((weight, claims, sum(chance.random() < share for _ in range(claims))))
    return AnswerSums(
        answers=answers,
        claims=sum(m for _, m, _ in rows),
        wm=sum(w * m for w, m, _ in rows),
        wx=sum(w * x for w, _, x in rows),
        wwm=sum(w * w * m for w, m, _ in rows),
        wwxx=sum(w * w * x * x for w, _, x in rows),
        wwxm=sum(w * w * x * m for w, m, x in rows),
        wwmm=sum(w * w * m * m for w, m, _ in rows),
    )


def holds(found: RateDifference, truth: float) -> bool:
    """Whether the interval contains the true difference."""
    assert found.low is not None
    assert found.high is not None
    return found.low <= truth <= found.high


def test_interval_is_newcombes() -> None:
    """56 of 70 against 48 of 80 is the example of his paper: 0.0524 to 0.3339."""
    found = rate_difference(rate_of_size(48 / 80, 80), rate_of_size(56 / 70, 70))

    assert found.value == pytest.approx(0.2)
    assert found.low == pytest.approx(0.0524, abs=5e-5)
    assert found.high == pytest.approx(0.3339, abs=5e-5)
    assert found.is_rise
    assert not found.is_fall


@given(measured, measured)
def test_the_other_way_round_it_is_the_opposite(a: Rate, b: Rate) -> None:
    """Which version is called a changes the sign alone."""
    there, back = rate_difference(a, b), rate_difference(b, a)

    assert there.value is not None
    assert back.low is not None
    assert back.high is not None
    assert back.value == pytest.approx(-there.value)
    assert there.low == pytest.approx(-back.high)
    assert there.high == pytest.approx(-back.low)


@given(measured, measured)
def test_interval_contains_the_difference_and_stays_possible(a: Rate, b: Rate) -> None:
    """-1 ≤ low ≤ b - a ≤ high ≤ 1."""
    found = rate_difference(a, b)

    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_nothing_is_said_without_both_rates() -> None:
    """A version without decided claims has no difference from another."""
    known = rate_of_size(0.1, 100)

    assert rate_difference(known, UNKNOWN) == RateDifference(None, None, None)
    assert standardised([(known, UNKNOWN)]) == (UNKNOWN, UNKNOWN)
    assert standardised([]) == (UNKNOWN, UNKNOWN)
    assert answers_to_tell(known, UNKNOWN, (5, 5), 0.02) is None
    assert answers_to_tell(known, known, (0, 5), 0.02) is None


@given(routes)
def test_routes_weigh_the_same_in_both_versions(pairs: list[tuple[Rate, Rate]]) -> None:
    """Equal rates on every route give equal rates together, whatever the traffic of each."""
    alike = [(a, rate_of_size(a.value or 0.0, b.size or 1.0)) for a, b in pairs]

    first, second = standardised(alike)

    assert first.value == pytest.approx(second.value)


def test_a_change_of_traffic_is_no_difference() -> None:
    """Most of b is on the bad route; pooled it would be 20 points worse, each route is equal."""
    good, bad = 0.02, 0.30
    pairs = [
        (rate_of_size(good, 900), rate_of_size(good, 100)),
        (rate_of_size(bad, 100), rate_of_size(bad, 900)),
    ]

    assert rate_difference(*standardised(pairs)).value == pytest.approx(0)


@given(routes)
def test_a_route_that_one_version_lacks_changes_nothing(pairs: list[tuple[Rate, Rate]]) -> None:
    """It is left out, as if it were not there."""
    more = [*pairs, (rate_of_size(0.9, 500), UNKNOWN)]

    assert standardised(more) == standardised(pairs)


@pytest.mark.parametrize(
    ("first", "second", "answers", "icc", "rates"),
    [
        (0.02, 0.02, (400, 400), 0.2, (1.0,)),
        (0.05, 0.10, (60, 60), 0.2, (1.0,)),
        (0.05, 0.30, (300, 40), 0.4, (1.0,)),
        (0.10, 0.10, (150, 150), 0.2, (1.0, 0.25)),
        (0.20, 0.25, (100, 100), 0.0, (1.0,)),
    ],
)
def test_interval_holds_the_true_difference_in_nearly_all_repetitions(
    first: float, second: float, answers: tuple[int, int], icc: float, rates: tuple[float, ...]
) -> None:
    """Claims of one answer correlated, answers sampled unequally: 92 to 99.5% of 600 draws."""
    chance = random.Random(11)  # noqa: S311
    held = sum(
        holds(
            rate_difference(
                claim_rate(drawn(chance, answers[0], first, icc, rates)),
                claim_rate(drawn(chance, answers[1], second, icc, rates)),
            ),
            second - first,
        )
        for _ in range(600)
    )

    assert 0.92 <= held / 600 <= 0.995


def test_interval_over_routes_holds_the_true_difference_in_nearly_all_repetitions() -> None:
    """Three routes with other rates, sizes and traffic, each three points worse in b."""
    chance = random.Random(13)  # noqa: S311
    world = [(0.02, 200, 60), (0.10, 60, 200), (0.30, 25, 25)]
    held = 0
    for _ in range(600):
        pairs = [
            (
                claim_rate(drawn(chance, n, rate, 0.2)),
                claim_rate(drawn(chance, m, rate + 0.03, 0.2)),
            )
            for rate, n, m in world
        ]
        held += holds(rate_difference(*standardised(pairs)), 0.03)

    assert 0.92 <= held / 600 <= 0.995


@given(measured, measured, st.integers(1, 500), st.integers(1, 500))
def test_fewer_answers_are_needed_for_larger_differences(a: Rate, b: Rate, n: int, m: int) -> None:
    """And a difference that can be told already needs none."""
    found = [answers_to_tell(a, b, (n, m), points) or 0 for points in (0.01, 0.02, 0.05, 0.2, 0.9)]

    assert all(more >= fewer >= 0 for more, fewer in pairwise(found))
    first, second = replace(a, size=1e7), replace(b, size=1e7)
    assert answers_to_tell(first, second, (n, m), 0.01) == 0


def test_with_the_answers_that_were_asked_for_the_difference_is_told() -> None:
    """In about four of five cases: the power that the number is for."""
    chance = random.Random(17)  # noqa: S311
    n, rate, points = 80, 0.06, 0.04
    sums = [drawn(chance, 4000, one, 0.2) for one in (rate, rate + points)]
    first, second = (
        rate_of_size(one.value or 0, (one.size or 0) * n / 4000) for one in map(claim_rate, sums)
    )
    more = answers_to_tell(first, second, (n, n), points)

    assert more is not None
    told = sum(
        rate_difference(
            claim_rate(drawn(chance, n + more, rate, 0.2)),
            claim_rate(drawn(chance, n + more, rate + points, 0.2)),
        ).is_rise
        for _ in range(200)
    )

    assert 0.7 <= told / 200 <= 0.95
