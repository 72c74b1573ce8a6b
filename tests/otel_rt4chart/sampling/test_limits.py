"""The bucket of the minute and the count of the day."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.sampling.sampler import DAY_S, DayBudget, Throttle


def test_a_bucket_gives_its_tokens_at_once_and_then_fills_again() -> None:
    """With chance 1 down to a half, then less and less, then none; a minute later all of it."""
    throttle, chances = Throttle(), []
    for _ in range(5):
        chances.append(throttle.chance(4, 1000.0))
        throttle.spend()

    assert chances[:3] == [1.0, 1.0, 1.0]
    assert 0 < chances[3] < 0.1
    assert chances[4] == 0.0
    assert throttle.chance(4, 1090.0) == 1.0


def test_a_clock_that_is_set_back_refills_nothing() -> None:
    """And takes nothing away either."""
    throttle = Throttle()
    assert throttle.chance(1, 1000.0) == 1.0
    throttle.spend()

    assert throttle.chance(1, 10.0) == 0.0
    assert throttle.chance(1, 80.0) == 1.0


def test_another_bound_holds_at_once() -> None:
    """What was spent stays spent."""
    throttle = Throttle()
    for _ in range(2):
        throttle.chance(2, 5.0)
        throttle.spend()

    assert throttle.chance(2, 5.0) == 0.0
    assert throttle.chance(20, 5.0) == 1.0


@given(st.integers(1, 50), st.lists(st.floats(0, 5), max_size=200))
def test_never_more_than_a_bucket_and_what_flowed_in(most: int, gaps: list[float]) -> None:
    """Whoever may pass does; one may pass on a part of a token."""
    throttle, now, passed = Throttle(), 100.0, 0
    for gap in gaps:
        now += gap
        chance = throttle.chance(most, now)
        assert 0 <= chance <= 1
        if chance > 0:
            throttle.spend()
            passed += 1

    assert passed < most + (now - 100.0) * most / 60 + 1


def test_a_budget_is_a_day_s_of_utc() -> None:
    """It is renewed at midnight, and not by a clock that is set back."""
    budget, noon = DayBudget(), 20_000 * DAY_S + DAY_S / 2
    assert budget.is_left(1, noon)
    budget.spend()

    assert not budget.is_left(1, noon)
    assert not budget.is_left(1, noon - DAY_S)
    assert budget.is_left(2, noon)
    assert budget.is_left(1, noon + DAY_S / 2)
