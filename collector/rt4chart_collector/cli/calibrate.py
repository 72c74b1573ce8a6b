"""Options of `rt4chart calibrate`."""

from __future__ import annotations

import argparse

from rt4chart_collector.core.arguments import add_dsn


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_dsn(parser)
    parser.add_argument("--verifier", metavar="ID", help="the judge (default: of the last draw)")
    parser.add_argument("--route", help="only this route")
    parser.add_argument(
        "--error",
        type=float,
        default=0.2,
        metavar="SHARE",
        help="the share of flagged claims that may be right (default 0.2)",
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.9,
        metavar="SHARE",
        help="how sure the threshold must be (default 0.9)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
