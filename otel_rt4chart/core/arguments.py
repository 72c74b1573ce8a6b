"""Types of command-line arguments, for the parameter `type` of argparse."""

from __future__ import annotations

import argparse
import re

UNITS_S = {"m": 60, "h": 3600, "d": 86_400}


def parse_duration_s(text: str) -> int:
    """Seconds of a duration such as 90m, 24h or 7d."""
    match = re.fullmatch(r"(\d{1,6})([mhd])", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"expected a duration such as 90m, 24h or 7d, got {text!r}"
        )
    return int(match[1]) * UNITS_S[match[2]]


def positive_integer(text: str) -> int:
    """An integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, got {text!r}")
    return int(text)
