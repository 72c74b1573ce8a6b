"""Failures a day as bars."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.console.failure_trend import FOOT, HEIGHT, WIDTH, build_trend
from rt4chart_collector.store.issues.issue_figures import FigurePart

DAY = 86_400 * 10**9


def test_days_without_a_failure_are_there() -> None:
    """Today is the last one."""
    trend = build_trend([FigurePart("1970-01-14", 3, 6.0)], now_ns=14 * DAY, days=3)

    assert [(one.day, one.claims) for one in trend.bars] == [
        ("1970-01-13", 0),
        ("1970-01-14", 3),
        ("1970-01-15", 0),
    ]
    assert (trend.most, trend.claims) == (3, 3)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30))
def test_bars_lie_in_the_picture_and_no_failure_is_unseen(counts: list[int]) -> None:
    """However unequal the days are."""
    parts = [
        FigurePart(f"1970-01-{day:02}", claims, 1.0) for day, claims in enumerate(counts, start=1)
    ]

    trend = build_trend(parts, now_ns=(len(counts) - 1) * DAY, days=len(counts))

    for bar, claims in zip(trend.bars, counts, strict=True):
        assert bar.claims == claims
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH + 0.1
        assert bar.y >= 0
        assert bar.y + bar.height <= HEIGHT - FOOT + 0.1
        assert (bar.height >= 2) == (claims > 0)
