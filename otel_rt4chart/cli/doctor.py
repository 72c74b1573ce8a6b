"""Options of `rt4chart doctor`."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--judge",
        metavar="NAME",
        help="test this judge with one call (default: RT4CHART_JUDGE, if set)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
