"""A deadline under a clock that a test moves."""

from __future__ import annotations

from otel_rt4chart.core.deadline import Deadline


def test_deadline_counts_down_and_is_over_on_time() -> None:
    """No time remains from then on, and never less than none."""
    now = 100.0
    deadline = Deadline(2.5, clock=lambda: now)
    seen = []

    for now in (100.0, 101.0, 102.5, 200.0):  # noqa: B007 - the clock reads it
        seen.append((deadline.remaining, deadline.is_over))

    assert seen == [(2.5, False), (1.5, False), (0.0, True), (0.0, True)]


def test_deadline_of_no_time_is_over_at_once() -> None:
    """As that of a service that was told not to wait."""
    assert Deadline(0.0, clock=lambda: 7.0).is_over
