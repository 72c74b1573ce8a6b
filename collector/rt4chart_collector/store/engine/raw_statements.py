"""Statements of other processes on the embedded engine, with bytes in and bytes out.

The text is not checked: a client that may send one could also open the database files. Each
statement has its own connection, so its settings and its current database end with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import chdb

from otel_rt4chart.core.errors import StoreError

MIB = 2**20
# The limits of one statement. A client may set lower ones.
LIMITS = {
    "max_execution_time": 60,
    "max_memory_usage": 1024 * MIB,
    "max_result_bytes": 256 * MIB,
    "max_threads": 2,
}
# Marks these statements in `system.processes`: `cancel_all` must not stop the service's own.
LOG_COMMENT = "rt4chart-local-api"
CHUNK = MIB
# What clients of this package set, by name. Others may write files (output_format_schema).
SETTINGS = frozenset(
    {
        *("readonly", "extremes", *LIMITS),
        *("async_insert", "insert_deduplicate", "insert_deduplication_token"),
        *("deduplicate_blocks_in_dependent_materialized_views", "max_partitions_per_insert_block"),
        *("cancel_http_readonly_queries_on_client_close", "cast_string_to_dynamic_use_inference"),
        *("max_block_size", "query_plan_execute_functions_after_sorting"),
        *("date_time_input_format", "date_time_output_format"),
        *("do_not_merge_across_partitions_select_final", "optimize_move_to_prewhere_if_final"),
        *("additional_table_filters", "priority"),
        *("compile_expressions", "compile_aggregate_expressions", "compile_sort_description"),
        *("output_format_json_array_of_rows", "output_format_json_quote_64bit_integers"),
        *("output_format_json_escape_forward_slashes", "output_format_parquet_string_as_string"),
    }
)
ERROR_CODE = re.compile(r"Code: (\d+)\. DB::")


@dataclass(frozen=True, slots=True)
class RawStatement:
    """A statement; `rows` are the rows of an INSERT in the format that its text names."""

    text: str
    database: str = "default"
    settings: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    rows: IO[bytes] | None = None


@dataclass(frozen=True, slots=True)
class RawResult:
    """The result in the format that the text names, or the number of rows inserted."""

    data: bytes = b""
    written_rows: int = 0


class StatementError(StoreError):
    """The engine rejected or aborted a statement; `code` is ClickHouse's error code."""

    def __init__(self, message: str) -> None:
        """Keep the engine's message without the prefix that the Python binding adds."""
        found = ERROR_CODE.search(message)
        super().__init__(message[found.start() :].strip() if found else message.strip())
        self.code = int(found[1]) if found else 0


def run_raw(path: str, statement: RawStatement) -> RawResult:
    """Run one statement on the database of this process; raises StatementError."""
    with _connected(path) as connection:
        connection.query(f"USE {_quoted(statement.database, '`')}")
        connection.query(f"SET {_settings(statement.settings)}")
        if statement.rows is not None:
            return RawResult(written_rows=_insert(connection, statement.text, statement.rows))
        parameters = dict(statement.parameters)
        found = connection.query(statement.text, "TabSeparated", params=parameters)
        return RawResult(found.bytes() if found else b"")


def cancel_all(path: str) -> None:
    """Cancel every running statement of `run_raw`, without waiting."""
    with _connected(path) as connection:
        connection.query(
            f"KILL QUERY WHERE Settings['log_comment'] = '{LOG_COMMENT}' ASYNC FORMAT Null"
        )


@contextmanager
def _connected(path: str) -> Iterator[Any]:
    connection: Any = None
    try:
        connection = chdb.connect(path)  # type: ignore[no-untyped-call]
        yield connection
    except RuntimeError as error:
        raise StatementError(str(error)) from error
    finally:
        if connection is not None:
            connection.close()


def _insert(connection: Any, text: str, rows: IO[bytes]) -> int:  # noqa: ANN401 - chdb is untyped
    head, _, name = text.strip().rpartition(" FORMAT ")
    with connection.send_insert(head, name) as inserter:
        while piece := rows.read(CHUNK):
            inserter.append(piece)
        return int(inserter.finish().rows_written)


def _settings(settings: Mapping[str, str]) -> str:
    """All settings for one SET: after a separate `SET readonly`, no other could be set."""
    unknown = sorted(settings.keys() - SETTINGS)
    if unknown:
        raise StatementError(
            f"expected settings that rt4chart sets itself, got {unknown[0][:80]!r}; set it in the "
            "statement's own SETTINGS clause"
        )
    limits = {name: _capped(settings.get(name, ""), most) for name, most in LIMITS.items()}
    values = {**settings, **limits, "log_comment": LOG_COMMENT}
    return ", ".join(f"{name} = {_quoted(str(value), chr(39))}" for name, value in values.items())


def _capped(requested: str, most: int) -> int:
    is_number = requested.isascii() and requested.isdigit()
    return min(int(requested), most) if is_number and int(requested) else most


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
