"""A difference in words: who is worse and by how much, or what would tell."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.rates import Rate, rate_of_size
from otel_rt4chart.verify.rates.difference import UNKNOWN, answers_to_tell, rate_difference
from rt4chart_collector.comparison.figures import GOAL, ComparedRate, ComparedRates
from rt4chart_collector.comparison.wording import difference_words, routes_words, signed


def found(a: Rate, b: Rate, answers: int = 100) -> ComparedRate:
    """These rates compared."""
    both = answers, answers
    return ComparedRate(a, b, rate_difference(a, b), both, both, answers_to_tell(a, b, both, GOAL))


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (
            rate_of_size(0.02, 2000),
            rate_of_size(0.05, 2000),
            "new is worse than old by 3.0 points, between 1.9 and 4.2",
        ),
        (
            rate_of_size(0.05, 2000),
            rate_of_size(0.02, 2000),
            "new is better than old by 3.0 points, between 1.9 and 4.2",
        ),
        (
            rate_of_size(0.05, 100),
            rate_of_size(0.06, 100),
            "no difference can be told: between −6.0 and +8.1 points; 2,504 more answers of each "
            "would tell 2 points",
        ),
        (
            rate_of_size(0.05, 90_000),
            rate_of_size(0.05, 90_000),
            "no difference can be told: between −0.2 and +0.2 points; these answers are enough to "
            "tell a difference of 2 points",
        ),
        (UNKNOWN, rate_of_size(0.05, 9), "no difference can be told: one of the versions has no "),
    ],
)
def test_the_outcome_is_one_sentence(a: Rate, b: Rate, said: str) -> None:
    """With the interval in points."""
    assert difference_words(found(a, b), a="old", b="new").startswith(said)


def test_points_have_a_sign_unless_they_are_none() -> None:
    """A minus sign as long as the plus."""
    assert [signed(share) for share in (0.0312, -0.02, 0.0, -0.0001)] == [
        "+3.1",
        "−2.0",
        "0.0",
        "0.0",
    ]


def test_without_a_common_route_that_is_said() -> None:
    """Instead of rates."""
    nothing = ComparedRates((), (), {}, {}, {})

    assert routes_words(nothing) == ("of no route: they have none with decided claims in common")
