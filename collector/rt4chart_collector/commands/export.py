"""`rt4chart export`: what is in the database as files, for other tools."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from otel_rt4chart.cli import Command
from otel_rt4chart.core.durations import parse_duration_s
from otel_rt4chart.core.settings import load
from rt4chart_collector.commands.database import add_dsn, open_database
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.answers.export import (
    FORMATS,
    PARQUET,
    SOURCES,
    ExportRequest,
    export_table,
)

EPILOG = """\
A folder for each table, a file for each day (in UTC) that has rows, or for its hours or minutes
where a day is too much at once. Days are written whole: --since 24h is yesterday and today, from
00:00 UTC. Rows that were replaced or taken back are left out. Columns: docs/reference/tables.md
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    parser.add_argument(
        "--since",
        type=parse_duration_s,
        default="7d",
        metavar="TIME",
        help="what began in that time, such as 90m, 24h, 7d (default), from 00:00 UTC of its day",
    )
    parser.add_argument(
        "--until",
        type=parse_duration_s,
        default="0m",
        metavar="TIME",
        help="and at least so long ago, to the end of that day (default: now)",
    )
    parser.add_argument(
        "--table",
        action="append",
        choices=tuple(SOURCES),
        help=f"one of {', '.join(SOURCES)}; may be given several times (default: all)",
        metavar="NAME",
    )
    parser.add_argument("--route", default="", help="only that route's")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where to write")
    parser.add_argument(
        "--format", choices=tuple(FORMATS), default=PARQUET, help="parquet (default) or jsonl"
    )
    parser.add_argument(
        "--force", action="store_true", help="write beside and over files that are there"
    )


def execute(options: argparse.Namespace) -> int:
    """Write the files, and name each as soon as it is whole."""
    dsn, now = load(ServiceSettings, {"dsn": options.dsn}).dsn, datetime.now(UTC)
    wanted = ExportRequest(
        since=now - timedelta(seconds=options.since),
        until=now - timedelta(seconds=options.until),
        route=options.route,
        format=options.format,
        folder=options.out,
        overwrites=options.force,
    )
    count = 0
    with open_database(dsn, needs="rt4chart_dead_letters") as client:
        for name in options.table or SOURCES:
            for path in export_table(client, name, wanted):
                sys.stdout.write(f"{path}\n")
                count += 1
    if not count:
        sys.stderr.write("no rows in that time\n")
    return 0


COMMAND = Command("export", "write what is in the database to files", configure, execute)
