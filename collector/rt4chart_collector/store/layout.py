"""How this project writes a table: columns in order, whole batches, a token for each batch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rt4chart_collector.store.connect import Client

Row = tuple[Any, ...]
# The column type of what has few values: services, routes, judges.
NAME = "LowCardinality(String)"


@dataclass(frozen=True, slots=True)
class Layout:
    """A table's columns as (name, type); a row is a tuple in their order, times in nanoseconds."""

    table: str
    columns: tuple[tuple[str, str], ...]

    @property
    def selection(self) -> str:
        """The columns for a SELECT that gives rows as they were written."""
        return ", ".join(map(_selected, self.columns))

    def insert(self, client: Client, rows: Sequence[Row], *, token: str) -> None:
        """Write the rows; the same token twice among the last 1000 inserts is written once.

        Views on the table obey the token too. A batch may cover any number of days.
        """
        if not rows:
            return
        client.insert(
            self.table,
            [list(column) for column in zip(*rows, strict=True)],
            [name for name, _ in self.columns],
            column_type_names=[kind for _, kind in self.columns],
            column_oriented=True,
            settings={
                "insert_deduplicate": 1,
                "insert_deduplication_token": token,
                "deduplicate_blocks_in_dependent_materialized_views": 1,
                "max_partitions_per_insert_block": 0,
                "async_insert": 0,
            },
        )


def token_of(kind: str, identities: Iterable[Sequence[object]]) -> str:
    """A batch's token: a function of what is in it, not of the order or the moment."""
    lines = sorted("\x1f".join(map(str, identity)) for identity in identities)
    return hashlib.sha256("\x1e".join([kind, *lines]).encode()).hexdigest()


def _selected(column: tuple[str, str]) -> str:
    name, kind = column
    if kind.startswith("Array(DateTime64"):
        return f"arrayMap(t -> toUnixTimestamp64Nano(t), {name})"
    if kind.startswith("DateTime64"):
        return f"toUnixTimestamp64Nano({name})"
    return name
