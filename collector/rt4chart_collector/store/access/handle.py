"""A handle to the embedded engine: what one statement sets and locks ends with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import chdb

from rt4chart_collector.store.access.errors import refused_by_engine


@dataclass(frozen=True, slots=True)
class Rows:
    """A result in its format, whole, and what the engine read for it."""

    data: bytes
    read_rows: int
    read_bytes: int


class Handle:
    """One connection within this process; a context manager that closes it.

    Every method raises RefusedError with the engine's own words.
    """

    def __init__(self, path: str) -> None:
        """`path` is that of the open database: the engine takes one a process."""
        self._inner: Any = chdb.connect(path)  # type: ignore[no-untyped-call]

    def __enter__(self) -> Handle:
        """The handle itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._inner.close()

    def query(
        self, sql: str, fmt: str = "Null", parameters: Mapping[str, str] | None = None
    ) -> Rows:
        """Run a statement; parameters are in the escaped form of ClickHouse's HTTP interface."""
        try:
            found = self._inner.query(sql, fmt, params=dict(parameters or {}))
        except RuntimeError as error:
            raise refused_by_engine(str(error)) from None
        if not found:
            return Rows(b"", 0, 0)
        return Rows(found.bytes(), found.storage_rows_read(), found.storage_bytes_read())

    def row(self, sql: str) -> list[Any]:
        """The one row of a query."""
        row: list[Any] = json.loads(self.query(sql, "JSONCompactEachRow").data)
        return row

    def insert(self, sql: str, fmt: str, data: bytes) -> int:
        """Run an INSERT without its FORMAT clause on the data; the rows written."""
        try:
            with self._inner.send_insert(sql, fmt) as inserter:
                inserter.append(data)
                return int(inserter.finish().rows_written)
        except RuntimeError as error:
            raise refused_by_engine(str(error)) from None
