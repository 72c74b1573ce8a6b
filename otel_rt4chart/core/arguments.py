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


def parse_name(written: str) -> str:
    """A text with more than spaces in it, without those around it."""
    if not written.strip():
        raise argparse.ArgumentTypeError(f"expected a name, got {written!r}")
    return written.strip()


def parse_jobs(written: str) -> int:
    """The number of answers to verify at once."""
    if not written.isdecimal() or not 1 <= int(written) <= 1000:
        raise argparse.ArgumentTypeError(f"expected an integer from 1 to 1000, got {written!r}")
    return int(written)


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
