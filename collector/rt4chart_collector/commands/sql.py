"""`rt4chart sql`: one read-only query, with or without a running service."""

from __future__ import annotations

import argparse
import shutil
import sys
from io import RawIOBase
from pathlib import Path

from otel_rt4chart.cli import Command
from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from rt4chart_collector.commands.database import add_dsn, open_database
from rt4chart_collector.core.printing import table, write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import STREAM_ERRORS, Client
from rt4chart_collector.store.engine.read_only import check_read_only, make_read_only

TABLE, PARQUET = "table", "parquet"
FORMATS = {
    "csv": "CSVWithNames",
    "tsv": "TabSeparatedWithNames",
    # Another name of JSONEachRow, which the embedded driver would stream block by block: an array
    # for each block.
    "json": "JSONLines",
    "jsonl": "JSONEachRow",
    PARQUET: "Parquet",
}
SETTINGS = {
    "json": {"output_format_json_array_of_rows": "1"},
    PARQUET: {"output_format_parquet_string_as_string": "1"},
}
CHUNK = 2**20
EPILOG = """\
The query may read every table and view but change nothing. Through a running service it is limited
to 60 seconds and a result of 256 MiB. Tables, views and examples: docs/reference/tables.md and
docs/reference/sql.md

  rt4chart sql "SELECT Route, count() FROM rt4chart_verifications FINAL GROUP BY Route"
  rt4chart sql "SELECT * FROM rt4chart_rates" --format parquet --out rates.parquet
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_dsn(parser)
    parser.add_argument("query", metavar="QUERY", help="one statement; - reads it from stdin")
    parser.add_argument(
        "--format",
        choices=(TABLE, *FORMATS),
        default=TABLE,
        help="table (default), csv, tsv, json (an array of objects), jsonl or parquet",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the result to a file")


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


COMMAND = Command("sql", "run one read-only query on the database", configure, execute)
