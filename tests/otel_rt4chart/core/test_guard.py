from __future__ import annotations

import logging

import pytest

from otel_rt4chart.core.guard import Guard


def test_our_exception_is_swallowed_and_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A failure in a hot path is counted every time and told once."""
    guard = Guard()

    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with guard("marking a span"):
                raise ValueError("the user's secret")

    assert guard.swallowed == 3
    assert [record.getMessage() for record in caplog.records] == [
        "marking a span failed (ValueError); the application is not affected"
    ]


def test_a_strict_guard_raises() -> None:
    """Tests may ask to see what production swallows."""
    guard = Guard()
    guard.strict = True

    with pytest.raises(ValueError, match="no"), guard("marking a span"):
        raise ValueError("no")


def test_interrupts_pass() -> None:
    """Only exceptions are ours to swallow."""
    with pytest.raises(KeyboardInterrupt), Guard()("marking a span"):
        raise KeyboardInterrupt


def test_exits_pass_but_in_a_thread_of_our_own() -> None:
    """Ctrl-C must end the application; a callback that exits must not end our thread."""
    guard = Guard()

    with pytest.raises(SystemExit), guard("a test"):
        raise SystemExit
    with guard("a test", is_own_thread=True):
        raise SystemExit

    assert guard.swallowed == 1
