"""The smallest rise that is found in time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rt4chart_collector.detect.drift.evidence import smallest_rise
from tests.rt4chart_collector.detect.drift.routes import BASELINE


def test_nothing_is_found_without_answers_or_with_hardly_any() -> None:
    """Neither zero nor two answers an hour find anything within 90 minutes."""
    assert smallest_rise(BASELINE, 0) is None
    assert smallest_rise(BASELINE, 2) is None


def test_more_answers_more_time_and_fewer_routes_find_smaller_rises() -> None:
    """And a wider dead band asks for larger ones."""
    usual = smallest_rise(BASELINE, 200)

    assert usual is not None
    assert (smallest_rise(BASELINE, 1000) or 1) < usual < (smallest_rise(BASELINE, 100) or 0)
    assert (smallest_rise(BASELINE, 200, 240) or 1) < usual
    assert usual < (smallest_rise(BASELINE, 200, page_at=13.0) or 0)
    assert usual < (smallest_rise(replace(BASELINE, dead_band=0.02), 200) or 0)


@pytest.mark.parametrize(
    ("answers", "low", "high"), [(50, 0.055, 0.085), (200, 0.03, 0.042), (1000, 0.016, 0.024)]
)
def test_it_agrees_with_what_was_simulated(answers: int, low: float, high: float) -> None:
    """At 6% and a steady rate: seven points at 50 an hour, 3.5 at 200, two at 1,000."""
    assert low < (smallest_rise(BASELINE, answers) or 0) < high
