"""Options of `rt4chart export`."""

from __future__ import annotations

import argparse
from pathlib import Path

from otel_rt4chart.core.arguments import parse_duration_s
from rt4chart_collector.core.arguments import add_dsn, add_since

TABLES = (
    "verifications",
    "claims",
    "trails",
    "criteria",
    "spans",
    "issues",
    "issue-assignments",
    "issue-events",
    "dead-letters",
    "rates",
    "corrected-rates",
)
FORMATS = ("parquet", "jsonl")
EPILOG = """\
Writes a folder for each table and a file for each day (in UTC) with rows, or for each hour or
minute of a large day. Days are written whole: --since 24h means yesterday and today, from
00:00 UTC. Replaced and withdrawn rows are left out. Columns: docs/reference/tables.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    add_since(
        parser, "7d", "start: TIME ago, such as 90m, 24h, 7d (default), from 00:00 UTC of that day"
    )
    parser.add_argument(
        "--until",
        type=parse_duration_s,
        default="0m",
        metavar="TIME",
        help="end: TIME ago, to the end of that day (default: now)",
    )
    parser.add_argument(
        "--table",
        action="append",
        choices=TABLES,
        help=f"one of {', '.join(TABLES)}; repeatable (default: all)",
        metavar="NAME",
    )
    parser.add_argument("--route", default="", help="only this route")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="the folder to write to"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="parquet", help="parquet (default) or jsonl"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write to a folder that is not empty, and overwrite files",
    )
