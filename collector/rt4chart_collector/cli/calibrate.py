"""Options of `rt4chart calibrate`."""

from __future__ import annotations

import argparse

from otel_rt4chart.core.arguments import parse_share
from rt4chart_collector.core.actors import add_actor
from rt4chart_collector.core.arguments import add_dsn


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_dsn(parser)
    parser.add_argument("--verifier", metavar="ID", help="the judge (default: of the last draw)")
    parser.add_argument("--route", help="only this route")
    parser.add_argument(
        "--error",
        type=parse_share,
        default=0.2,
        metavar="SHARE",
        help="the share of verdicts above the threshold that may be wrong (default 0.2)",
    )
    parser.add_argument(
        "--confidence",
        type=parse_share,
        default=0.9,
        metavar="SHARE",
        help="how sure the threshold must be (default 0.9)",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--apply", action="store_true", help="put the judge's confidences right from now on"
    )
    action.add_argument("--revert", action="store_true", help="go back to what was in force before")
    action.add_argument(
        "--history", action="store_true", help="list what was applied and taken back"
    )
    parser.add_argument(
        "--threshold",
        choices=("flagged", "entailed", "both"),
        help="with --apply: verdicts below their tested threshold become undecided",
    )
    add_actor(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
