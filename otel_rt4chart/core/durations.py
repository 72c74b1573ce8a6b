"""Parsing of durations such as `24h` on a command line."""

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
