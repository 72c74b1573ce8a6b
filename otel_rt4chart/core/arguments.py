"""Types of command-line arguments, for the parameter `type` of argparse."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

UNITS_S = {"m": 60, "h": 3600, "d": 86_400}


def parse_duration_s(text: str) -> int:
    """Seconds of a duration such as 90m, 24h or 7d."""
    match = re.fullmatch(r"([0-9]{1,6})([mhd])", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"expected a duration such as 90m, 24h or 7d, got {text!r}"
        )
    return int(match[1]) * UNITS_S[match[2]]


def integer_from(low: int, high: int) -> Callable[[str], int]:
    """The type of integers within these bounds, in ASCII digits; int() reads any script's."""

    def parse(written: str) -> int:
        if not re.fullmatch("[0-9]{1,12}", written) or not low <= int(written) <= high:
            raise argparse.ArgumentTypeError(
                f"expected an integer from {low} to {high}, got {written!r}"
            )
        return int(written)

    return parse


positive_integer = integer_from(1, 10**9)
parse_jobs = integer_from(1, 1000)  # answers to verify at once


def parse_name(written: str) -> str:
    """A text with more than spaces in it, without those around it."""
    if not written.strip():
        raise argparse.ArgumentTypeError(f"expected a name, got {written!r}")
    return written.strip()


def parse_share(written: str) -> float:
    """A share from 0 to 1."""
    try:
        # float() also reads digits of other scripts.
        rate = float(written) if written.isascii() else -1.0
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, got {written!r}")
    return rate
