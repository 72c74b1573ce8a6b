"""Options of `rt4chart trail`."""

from __future__ import annotations

import argparse

from rt4chart_collector.core.arguments import add_dsn

EPILOG = "More: docs/understand/trails.md\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.add_argument("trace_id", metavar="TRACE_ID", help="the trace of the answer")
    add_dsn(parser)
    parser.add_argument("--verifier", default="", metavar="ID", help="only this judge's verdicts")
    parser.add_argument("--json", action="store_true", help="print JSON")
