"""Numbers in command-line arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from otel_rt4chart.core.arguments import (
    integer_from,
    parse_duration_s,
    parse_jobs,
    parse_share,
    positive_integer,
)


@pytest.mark.parametrize(
    ("parse", "written", "expected"),
    [
        (positive_integer, "1", 1),
        (positive_integer, "007", 7),
        (parse_jobs, "1000", 1000),
        (integer_from(0, 5), "0", 0),
        (parse_duration_s, "90m", 5400),
        (parse_share, "0.25", 0.25),
    ],
)
def test_numbers_are_read(parse: Callable[[str], float], written: str, expected: float) -> None:
    """Within their bounds, which belong to them."""
    assert parse(written) == expected


@pytest.mark.parametrize(
    "written", ["", "0", "-1", "+1", "1.0", "1_0", " 1", "٣", "10" * 12, "ten"]
)
@pytest.mark.parametrize("parse", [positive_integer, parse_jobs, integer_from(1, 9)])
def test_other_integers_are_refused_with_the_bounds(
    parse: Callable[[str], int], written: str
) -> None:
    """Digits of other scripts and numbers that nobody means among them."""
    with pytest.raises(argparse.ArgumentTypeError, match="expected an integer from 1 to "):
        parse(written)


@pytest.mark.parametrize(
    ("parse", "written"), [(parse_duration_s, "٣d"), (parse_duration_s, "d"), (parse_share, "٠")]
)
def test_durations_and_shares_take_ascii_digits(
    parse: Callable[[str], float], written: str
) -> None:
    """As all numbers."""
    with pytest.raises(argparse.ArgumentTypeError, match="expected a"):
        parse(written)
