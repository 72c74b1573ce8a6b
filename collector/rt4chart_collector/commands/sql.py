"""`rt4chart sql`: one read-only query, with or without a running service."""

from __future__ import annotations

import argparse
import shutil
import sys
from io import RawIOBase
from pathlib import Path

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_collector.cli.sql import FORMATS, PARQUET, TABLE
from rt4chart_collector.core.printing import table, write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import STREAM_ERRORS, Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.read_only import check_read_only, make_read_only

SETTINGS = {
    "json": {"output_format_json_array_of_rows": "1"},
    PARQUET: {"output_format_parquet_string_as_string": "1"},
}
CHUNK = 2**20


def execute(options: argparse.Namespace) -> int:
    """Check the query, run it and write its result."""
    if options.format == PARQUET and options.out is None and sys.stdout.isatty():
        raise InputError("--format parquet: expected --out FILE or a pipe, got a terminal")
    if options.format == TABLE and options.out is not None:
        raise InputError(f"--out: expected --format {', '.join(FORMATS)}; got a table")
    text = sys.stdin.read() if options.query == "-" else options.query
    with open_database(
        load(ServiceSettings, {"dsn": options.dsn}).dsn, needs="rt4chart_verifications"
    ) as client:
        client.set_settings(SETTINGS.get(options.format, {}))
        make_read_only(client)
        query = check_read_only(client, text)
        if options.format == TABLE:
            _show(client, query)
        else:
            _copy(client, f"{query}\nFORMAT {FORMATS[options.format]}", options.out)
    return 0


def _show(client: Client, query: str) -> None:
    found = client.query(query)
    rows = [[str(value) for value in row] for row in found.result_rows]
    write(rows, table(found.column_names, rows), as_json=False)


def _copy(client: Client, query: str, path: Path | None) -> None:
    try:
        with client.stream(query) as result:
            if path is not None:
                _save(result, path)
            elif sys.stdout.isatty():
                sys.stdout.write(
                    printable((result.read() or b"").decode(errors="replace"), keep="\n\t")
                )
            else:
                shutil.copyfileobj(result, sys.stdout.buffer, CHUNK)
    except BrokenPipeError:  # such as `| head`; the caller of `execute` exits quietly
        raise
    except STREAM_ERRORS as error:
        raise StoreError(f"the result is incomplete: {error}") from error


def _save(result: RawIOBase, path: Path) -> None:
    """Write to a temporary name, and rename the file when it is complete."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as out:
            shutil.copyfileobj(result, out, CHUNK)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
