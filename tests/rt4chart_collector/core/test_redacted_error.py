from __future__ import annotations

from rt4chart_collector.core.redacted_error import redacted_error


def failing() -> None:
    """Raises what quotes a text."""
    raise ValueError("ann@example.org said so")


def test_the_type_and_the_place_are_shown_and_not_the_message() -> None:
    """Logs go where texts must not."""
    try:
        failing()
    except ValueError as error:
        told = redacted_error(error)

    assert told.startswith("ValueError < ")
    assert "in failing" in told.split(" < ")[1]
    assert "ann@" not in told
