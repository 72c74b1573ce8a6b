"""Options of `rt4chart migrate`."""

from __future__ import annotations

import argparse

from rt4chart_collector.core.arguments import add_dsn

EPILOG = """\
Exit status: 0 the database is up to date (with --dry-run: it was checked), 1 its tables differ
from the migrations, 2 wrong usage. More: docs/deploy/database.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be applied, change nothing"
    )
    parser.add_argument(
        "--print",
        choices=("single", "cluster"),
        help="print the SQL of all migrations and use no database",
    )
