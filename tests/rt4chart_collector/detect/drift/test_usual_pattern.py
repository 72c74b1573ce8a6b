"""How the usual rate differs by kind of question, hour and day of the week."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.drift.hour_sums import HourSums, hour_sums
from rt4chart_collector.detect.drift.usual_pattern import (
    LARGEST_FACTOR,
    UsualPattern,
    fit_pattern,
)
from rt4chart_collector.store.rates.ticks import Bin
from tests.rt4chart_collector.detect.drift.routes import BINS, drawn, seeded

DAYS, LEVEL = 28, 14 * 24


def drawn_hours(
    rate: Callable[[int, str], float], kinds: tuple[str, ...] = ("",), *, answers: int = 40
) -> dict[int, HourSums]:
    """Four weeks of hours with so many answers to each kind, at a rate by hour and kind."""
    random = seeded(3)
    return {
        hour: hour_sums(
            Bin(one.decided, one.counted, one.answers, one.sample_rate, kind)
            for kind in kinds
            for one in drawn(random, answers, rate(hour, kind))
        )
        for hour in range(DAYS * 24)
    }


def test_where_nothing_differs_all_factors_are_nearly_one() -> None:
    """Chance is not taken for a pattern."""
    hours = drawn_hours(lambda hour, kind: 0.06, ("how", "why", "task"), answers=12)

    found = fit_pattern(hours, level_since=LEVEL)

    assert found.pattern == UsualPattern()
    assert math.sqrt(found.between_days) < 0.1


def test_kinds_and_hours_and_weekdays_have_factors() -> None:
    """As they were drawn; what they explain is no deviation between days."""

    def rate(hour: int, kind: str) -> float:
        of_day = 1 + 0.4 * math.sin(hour % 24 / 24 * 2 * math.pi)
        of_week = 1.3 if hour // 24 % 7 < 2 else 0.88
        return 0.06 * of_day * of_week * (1.5 if kind == "why" else 0.5)

    found = fit_pattern(drawn_hours(rate, ("how", "why")), level_since=LEVEL)

    pattern = found.pattern
    assert pattern.kind("why").value / pattern.kind("how").value == pytest.approx(3.0, rel=0.1)
    assert pattern.time(2 * 24 + 6) / pattern.time(2 * 24 + 18) == pytest.approx(1.4 / 0.6, rel=0.2)
    assert pattern.time(24) / pattern.time(3 * 24) == pytest.approx(1.3 / 0.88, rel=0.1)
    assert math.sqrt(found.between_days) < 0.06
    assert found.free < DAYS - 2 - 5


def test_an_unknown_kind_is_taken_to_be_like_any_of_them() -> None:
    """Its factor is that of the whole; its error says how much kinds differ."""
    hours = drawn_hours(lambda hour, kind: 0.12 if kind == "why" else 0.04, ("how", "why"))

    pattern = fit_pattern(hours, level_since=LEVEL).pattern

    assert pattern.kind("never asked").value == pytest.approx(1.0, abs=0.02)
    assert pattern.kind("never asked").error > 0.5
    assert pattern.kind("why").error < 0.1


def test_days_of_the_week_need_three_weeks() -> None:
    """Before that, a weekend may be chance."""
    hours = drawn_hours(lambda hour, kind: 0.12 if hour // 24 % 7 < 2 else 0.04)

    early = fit_pattern({hour: hours[hour] for hour in range(20 * 24)}, level_since=0)
    late = fit_pattern({hour: hours[hour] for hour in range(21 * 24)}, level_since=0)

    assert early.pattern.weekdays == {}
    assert late.pattern.weekdays[0] > 1.5 > 1 > late.pattern.weekdays[4]
    assert early.between_days > 4 * late.between_days


def test_a_level_that_changed_weeks_ago_is_no_difference_between_days() -> None:
    """The days before are compared with their own level."""
    hours = drawn_hours(lambda hour, kind: 0.12 if hour < LEVEL else 0.06)

    assert math.sqrt(fit_pattern(hours, level_since=LEVEL).between_days) < 0.06
    assert math.sqrt(fit_pattern(hours, level_since=0).between_days) > 0.2


@given(st.lists(BINS, min_size=1, max_size=40), st.integers(0, 30))
def test_factors_are_bounded_and_one_on_average(found: list[list[Bin]], first: int) -> None:
    """Over the answers of the hours that make the level."""
    hours = {5 * at: hour_sums(bins) for at, bins in enumerate(found)}
    level_since = min(first, max(hours))

    fitted = fit_pattern(hours, level_since=level_since)

    weight = expected = of_kinds = 0.0
    for hour, sums in hours.items():
        if hour >= level_since:
            weight += sums.whole.weight
            factors = sum(
                shares.weight * fitted.pattern.kind(kind).value
                for kind, shares in sums.kinds.items()
            )
            of_kinds += factors
            expected += fitted.pattern.time(hour) * factors
    assert expected == pytest.approx(weight)
    if all(kind in fitted.pattern.kinds for sums in hours.values() for kind in sums.kinds):
        assert of_kinds == pytest.approx(weight)
    assert fitted.between_days >= 0
    assert 0 <= fitted.free <= len(hours)
    assert all(
        1 / LARGEST_FACTOR - 1e-9 <= factor <= LARGEST_FACTOR + 1e-9
        for factor in (*fitted.pattern.hours.values(), *fitted.pattern.weekdays.values())
    )


def test_a_new_pattern_has_no_factors() -> None:
    """Every answer is compared with the whole."""
    assert UsualPattern().kind("how").value * UsualPattern().time(100) == 1.0
