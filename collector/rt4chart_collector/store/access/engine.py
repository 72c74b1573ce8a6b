"""Statements of other processes on the embedded engine: bounded, read-only unless they may write.

Each has a handle of its own, so that what it sets ends with it. A result is taken from the engine
whole and laid in a temporary file: who reads it slowly holds nothing of the engine.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from rt4chart_collector.store.access.errors import UNKNOWN_SETTING, refused
from rt4chart_collector.store.access.handle import Handle
from rt4chart_collector.store.access.statement import Statement, judged, known_to, quoted

MIB = 2**20
IN_MEMORY = MIB
NAME = re.compile(r"[a-z][a-z0-9_]*")
# The client asks once which settings it may send; `readonly` would say none.
SETTINGS_ASKED = re.compile(r"SELECT\s+name,\s+value,\s+readonly\s+FROM system.settings\b.*", re.S)
FREE = {
    *("final", "do_not_merge_across_partitions_select_final"),
    *("extremes", "limit", "offset", "join_use_nulls", "session_timezone"),
    *("date_time_input_format", "date_time_output_format", "async_insert"),
    *("cast_string_to_dynamic_use_inference", "insert_deduplicate", "insert_deduplication_token"),
    *("deduplicate_blocks_in_dependent_materialized_views", "max_partitions_per_insert_block"),
}
FREE_PREFIXES = ("output_format_", "input_format_")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one statement may take; a client may ask for less."""

    max_execution_time: int = 60
    max_memory_usage: int = 1024 * MIB
    max_result_bytes: int = 256 * MIB
    max_threads: int = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement as it came; `data` is what an INSERT brings, in the clear."""

    text: str
    data: bytes
    database: str
    format: str
    parameters: Mapping[str, str]
    settings: Mapping[str, str]
    may_write: bool


@dataclass(frozen=True, slots=True)
class Result:
    """A finished statement's rows in a file, their format ("" where there are none), figures."""

    file: SpooledTemporaryFile[bytes]
    format: str
    summary: Mapping[str, str]

    def pieces(self, size: int = 256 * 1024) -> Iterator[bytes]:
        """The rows, from the beginning."""
        self.file.seek(0)
        while piece := self.file.read(size):
            yield piece


class Engine:
    """The engine that this process owns, for requests of others; every method may block.

    Raises RefusedError with the engine's own words.
    """

    def __init__(self, path: str, limits: Limits | None = None) -> None:
        """`path` is the open database's folder."""
        self._path = path
        self._limits = limits or Limits()
        with Handle(self._path) as handle:
            self._known = known_to(handle.row)
            self.version, self.timezone = handle.row("SELECT version(), timezone()")

    def run(self, asked: Asked) -> Result:
        """Check the statement, run it, and take its result out of the engine."""
        started = time.perf_counter_ns()
        with Handle(self._path) as handle:
            for name, value in self._settings(asked.settings).items():
                handle.query(f"SET {name} = {quoted(value)}")
            statement = judged(
                asked.text,
                handle.row,
                self._known,
                may_write=asked.may_write,
            )
            handle.query(f"USE `{_database(asked.database)}`")
            if statement.is_insert:
                written = handle.insert(statement.text, statement.format, asked.data)
                return Result(_spooled(b""), "", _summary(started, written=written))
            if not SETTINGS_ASKED.fullmatch(statement.text):
                handle.query("SET readonly = 1")
            return _read(handle, statement, asked, started)

    def _settings(self, given: Mapping[str, str]) -> dict[str, str]:
        bounds = {
            "max_execution_time": self._limits.max_execution_time,
            "max_memory_usage": self._limits.max_memory_usage,
            "max_result_bytes": self._limits.max_result_bytes,
            "max_threads": self._limits.max_threads,
        }
        wanted = {name: str(_within(given.get(name, ""), most)) for name, most in bounds.items()}
        free = {name: value for name, value in given.items() if name not in bounds}
        for name in free:
            if not NAME.fullmatch(name) or not (name in FREE or name.startswith(FREE_PREFIXES)):
                raise refused(
                    UNKNOWN_SETTING,
                    f"Setting {name} is unknown or not allowed here; allowed are "
                    f"{', '.join(sorted(FREE | set(bounds)))} and those of formats",
                )
        return wanted | {"result_overflow_mode": "throw", "implicit_select": "0"} | free


def _within(asked: str, most: int) -> int:
    """What was asked for where that is a smaller positive number, else the most."""
    return min(int(asked), most) if asked.isascii() and asked.isdigit() and int(asked) else most


def _database(name: str) -> str:
    return name.replace("\\", "\\\\").replace("`", "\\`") or "default"


def _read(handle: Handle, statement: Statement, asked: Asked, started: int) -> Result:
    fmt = statement.format or asked.format
    found = handle.query(statement.text, fmt, asked.parameters)
    data = found.data
    if not data and fmt == "Native" and statement.is_select:
        data = _native_header(handle, statement.text, asked.parameters)
    summary = _summary(started, read=(found.read_rows, found.read_bytes))
    return Result(_spooled(data), fmt, summary)


def _native_header(handle: Handle, text: str, parameters: Mapping[str, str]) -> bytes:
    """A block of no rows, which the engine leaves out: clients read the columns from it."""
    told = handle.query(f"DESCRIBE TABLE ({text})", "JSONCompactEachRow", parameters).data
    columns = [json.loads(line)[:2] for line in told.splitlines()]
    cells = [_sized(str(cell).encode()) for column in columns for cell in column]
    return _varint(len(columns)) + _varint(0) + b"".join(cells)


def _sized(text: bytes) -> bytes:
    return _varint(len(text)) + text


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _spooled(rows: bytes) -> SpooledTemporaryFile[bytes]:
    file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - handed on
    file.write(rows)
    return file


def _summary(started: int, *, read: tuple[int, int] = (0, 0), written: int = 0) -> dict[str, str]:
    return {
        "read_rows": str(read[0]),
        "read_bytes": str(read[1]),
        "written_rows": str(written),
        "written_bytes": "0",
        "total_rows_to_read": "0",
        "result_rows": str(written),
        "result_bytes": "0",
        "elapsed_ns": str(time.perf_counter_ns() - started),
    }
