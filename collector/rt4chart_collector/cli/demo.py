"""Options of `rt4chart demo`."""

from __future__ import annotations

import argparse
from pathlib import Path

from otel_rt4chart.core.arguments import positive_integer


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--limit",
        type=positive_integer,
        default=0,
        metavar="N",
        help="with --live: stop after N answers (default: all)",
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE.svg", help="also save the report as an SVG picture"
    )
    parser.add_argument(
        "--folder", type=Path, help="folder of the database (default: the user's data folder)"
    )
    parser.add_argument(
        "--serve",
        action="store_true",
        help="serve the console with the alert that the bad release raises",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="send the public rows over OTLP to a running service instead, in minutes",
    )
    parser.add_argument(
        "--write-verdicts",
        action="store_true",
        help="verify all answers again, and write the bundled verdicts (for developers)",
    )
    parser.add_argument(
        "--console", default="", metavar="HOST:PORT", help="address of the console with --serve"
    )
