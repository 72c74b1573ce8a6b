"""Options of `rt4chart agreement`."""

from __future__ import annotations

import argparse

from rt4chart_collector.core.arguments import add_dsn, add_since


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_dsn(parser)
    add_since(parser, "7d", "answers of the last TIME, such as 90m, 24h, 7d (default)")
    parser.add_argument("--json", action="store_true", help="print JSON")
