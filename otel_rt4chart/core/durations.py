"""Spans of time as people write them on a command line."""

from __future__ import annotations

import argparse
import re

UNITS_S = {"m": 60, "h": 3600, "d": 86_400}


def period_s(text: str) -> int:
    """Seconds of a time such as 90m, 24h or 7d."""
    match = re.fullmatch(r"(\d{1,6})([mhd])", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a time such as 90m, 24h or 7d, got {text!r}")
    return int(match[1]) * UNITS_S[match[2]]
