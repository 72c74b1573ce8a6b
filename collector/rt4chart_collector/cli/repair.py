"""Options of `rt4chart repair`."""

from __future__ import annotations

import argparse

from rt4chart_collector.core.arguments import add_dsn

EPILOG = """\
Exit status: 0 no part is damaged, or all that were are detached, 1 damaged parts are left, 2 wrong
usage. More: docs/operate/health.md#damaged-parts
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    parser.add_argument(
        "--detach",
        action="store_true",
        help="give up the rows of damaged parts: move their files to the tables' folders detached/",
    )
