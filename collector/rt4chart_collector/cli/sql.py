"""Options of `rt4chart sql`."""

from __future__ import annotations

import argparse
from pathlib import Path

from rt4chart_collector.core.arguments import add_dsn

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
