"""Options of `rt4chart replay`."""

from __future__ import annotations

import argparse

from otel_rt4chart.judges.judge_failure import KINDS
from rt4chart_collector.core.arguments import add_dsn, add_since

REASONS = (*KINDS, "answer_gone")
EPILOG = f"Reasons: {', '.join(REASONS)}. More: docs/operate/judge-failures.md\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    add_dsn(parser)
    add_since(parser, "24h", "answers given up in the last TIME, such as 90m, 24h (default), 7d")
    parser.add_argument("--route", default="", help="only this route")
    parser.add_argument(
        "--reason", default="", choices=REASONS, metavar="REASON", help="only this reason"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be retried, change nothing"
    )
