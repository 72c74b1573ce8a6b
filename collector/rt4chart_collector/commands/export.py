"""`rt4chart export`: write tables to files, for other tools."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from otel_rt4chart.cli import Command
from otel_rt4chart.core.arguments import parse_duration_s
from otel_rt4chart.core.settings import load
from rt4chart_collector.commands.database import add_dsn, add_since, open_database
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.answers.export import (
    FORMATS,
    PARQUET,
    SOURCES,
    ExportRequest,
    export_table,
)

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
        choices=tuple(SOURCES),
        help=f"one of {', '.join(SOURCES)}; repeatable (default: all)",
        metavar="NAME",
    )
    parser.add_argument("--route", default="", help="only this route")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="the folder to write to"
    )
    parser.add_argument(
        "--format", choices=tuple(FORMATS), default=PARQUET, help="parquet (default) or jsonl"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write to a folder that is not empty, and overwrite files",
    )


def execute(options: argparse.Namespace) -> int:
    """Write the files, and print the path of each when it is complete."""
    dsn, now = load(ServiceSettings, {"dsn": options.dsn}).dsn, datetime.now(UTC)
    request = ExportRequest(
        since=now - timedelta(seconds=options.since),
        until=now - timedelta(seconds=options.until),
        route=options.route,
        format=options.format,
        folder=options.out,
        overwrites=options.force,
    )
    count = 0
    with open_database(dsn, needs="rt4chart_corrected_rates") as client:
        for name in options.table or SOURCES:
            for path in export_table(client, name, request):
                # Only complete files are printed: a script may upload each path that it reads.
                sys.stdout.write(f"{path}\n")
                count += 1
    if not count:
        sys.stderr.write("no rows in that time\n")
    return 0


COMMAND = Command("export", "export tables to files", configure, execute)
