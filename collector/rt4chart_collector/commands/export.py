"""`rt4chart export`: write tables to files, for other tools."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime, timedelta

from otel_rt4chart.core.settings import load
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.answers.export import (
    SOURCES,
    ExportRequest,
    export_table,
)
from rt4chart_collector.store.engine.open_database import open_database


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
    with open_database(dsn, needs="rt4chart_criteria") as client:
        for name in options.table or SOURCES:
            for path in export_table(client, name, request):
                # Only complete files are printed: a script may upload each path that it reads.
                sys.stdout.write(f"{path}\n")
                count += 1
    if not count:
        sys.stderr.write("no rows in that time\n")
    return 0
