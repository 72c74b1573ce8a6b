"""Adaptive sampling: raised on evidence, lowered again, never over the cap or without a budget."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import HOUR_NS
from rt4chart_collector.detect.drift.sampling import (
    RateChange,
    SamplingBudget,
    SamplingPolicy,
    extra_answers,
    next_rate,
)
from tests.rt4chart_collector.detect.drift.routes import BASELINE

POLICY = SamplingPolicy()
FULL = SamplingBudget(1000.0, 0)
CALM = DriftFinding(
    tick_ns=0,
    state="calm",
    warn=0.5,
    page=0.0,
    warn_at=7.6,
    page_at=9.06,
    baseline=BASELINE,
    detectable=0.03,
    began_ns=0,
    answers_per_hour=200.0,
    traffic_per_hour=2000.0,
    reason="",
)
WARN = replace(CALM, state="warn", warn=4.0, beyond=2.6)


def test_a_warning_that_could_page_raises_to_the_cap() -> None:
    """Half of two thousand an hour are a thousand, eight hundred more than at the route's rate."""
    assert next_rate(0.1, 0.1, WARN, POLICY, FULL) == RateChange(0.5, "rise", 800.0)


def test_a_warning_that_stays_within_the_dead_band_raises_nothing() -> None:
    """Days that differ warn, and are not worth answers."""
    assert next_rate(0.1, 0.1, replace(WARN, beyond=1.0), POLICY, FULL) is None


def test_a_calm_route_is_raised_on_the_same_evidence() -> None:
    """A warning for people asks for more; a cold route's evidence is none."""
    assert next_rate(0.1, 0.1, replace(WARN, state="calm"), POLICY, FULL) is not None
    assert next_rate(0.1, 0.1, replace(WARN, state="cold"), POLICY, FULL) is None
    assert next_rate(0.1, 0.1, replace(WARN, state="calm", warn=2.6), POLICY, FULL) is None


def test_it_is_lowered_below_the_lower_bound_only() -> None:
    """Between the bounds a raised route stays raised, and one that is not stays so."""
    between = replace(WARN, beyond=2.2)

    assert next_rate(0.5, 0.1, between, POLICY, FULL) is None
    assert next_rate(0.1, 0.1, between, POLICY, FULL) is None
    assert next_rate(0.5, 0.1, CALM, POLICY, FULL) == RateChange(0.1, "over", 0.0)


def test_an_alarm_keeps_the_rate_up() -> None:
    """So that its end is seen as soon."""
    page = replace(WARN, state="page", beyond=0.0)

    assert next_rate(0.5, 0.1, page, POLICY, FULL) is None
    assert next_rate(0.1, 0.1, page, POLICY, FULL) is not None


def test_without_budget_nothing_is_raised_and_what_is_raised_is_lowered() -> None:
    """Whatever the evidence."""
    assert next_rate(0.1, 0.1, WARN, POLICY, SamplingBudget(0.0, 0)) is None
    assert next_rate(0.5, 0.1, WARN, POLICY, SamplingBudget(-3.0, 0)) == RateChange(
        0.1, "budget", 0.0
    )


def test_a_busy_route_is_never_lowered_by_the_cap() -> None:
    """One whose own rate is over the cap keeps it."""
    busy = replace(WARN, traffic_per_hour=50_000.0)

    assert next_rate(0.1, 0.1, busy, POLICY, FULL) is None


@given(
    st.floats(0.001, 1),
    st.floats(0, 1e6),
    st.sampled_from(["cold", "calm", "warn", "page"]),
    st.floats(0, 20),
)
def test_a_new_rate_is_a_share_above_the_own_one_and_within_the_cap(
    base: float, traffic: float, state: str, beyond: float
) -> None:
    """For whatever is found."""
    finding = replace(CALM, state=state, beyond=beyond, traffic_per_hour=traffic)  # type: ignore[arg-type]

    change = next_rate(base, base, finding, POLICY, FULL)

    if change is not None:
        assert base < change.rate <= 1
        assert change.rate * traffic <= POLICY.cap_per_hour * 1.000001


def test_the_budget_is_earned_by_the_hour_and_kept_for_a_week() -> None:
    """Fifty an hour, less what was spent; a month saves no more than a week."""
    assert SamplingBudget(0.0, 0).after(2 * HOUR_NS, 30.0, POLICY) == SamplingBudget(
        70.0, 2 * HOUR_NS
    )
    assert SamplingBudget(0.0, 0).after(720 * HOUR_NS, 0.0, POLICY) == SamplingBudget(
        8400.0, 720 * HOUR_NS
    )
    assert POLICY.first_budget(5) == SamplingBudget(8400.0, 5)


def test_extra_answers_are_those_beyond_the_own_rate() -> None:
    """Of a hundred at five times the rate, eighty."""
    assert extra_answers(100, 0.5, 0.1) == pytest.approx(80)
    assert extra_answers(100, 0.1, 0.1) == 0
