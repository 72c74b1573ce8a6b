"""Options of `rt4chart cluster`."""

from __future__ import annotations

import argparse

from otel_rt4chart.core.arguments import integer_from, parse_duration_s
from rt4chart_clustering.core.defaults import MIN_SIZE
from rt4chart_collector.core.grouping_settings import RunCause


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    parser.add_argument(
        "--since",
        type=parse_duration_s,
        default="7d",
        metavar="TIME",
        help="answers since then, such as 90m, 24h, 7d (default)",
    )
    parser.add_argument(
        "--min-size",
        type=integer_from(1, 10**6),
        default=MIN_SIZE,
        metavar="N",
        help=f"claims that make an issue (default {MIN_SIZE})",
    )
    parser.add_argument(
        "--every",
        type=parse_duration_s,
        metavar="TIME",
        help="repeat at this interval, such as 15m",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    # For a running service: one thread of the database, and a status for "another one is running".
    parser.add_argument(
        "--cause", choices=list(RunCause), default=RunCause.COMMAND, help=argparse.SUPPRESS
    )
