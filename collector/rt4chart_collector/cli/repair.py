"""Options of `rt4chart repair`."""

from __future__ import annotations

import argparse

from rt4chart_collector.core.arguments import add_dsn, add_since

EPILOG = """\
Exit status: 0 no part is damaged, or all that were are detached, or all sums agree now, 1 damaged
parts are left, 2 wrong usage. More: docs/operate/health.md#damaged-parts
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--detach",
        action="store_true",
        help="give up the rows of damaged parts: move their files to the tables' folders detached/",
    )
    what.add_argument(
        "--sums",
        action="store_true",
        help="correct the sums that the rates are read from, where they differ from the verdicts",
    )
    add_since(parser, "24h", "with --sums: of the last TIME, such as 24h (default), 7d")
