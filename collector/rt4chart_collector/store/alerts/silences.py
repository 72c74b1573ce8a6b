"""Silences of alerts: snoozes and maintenance windows, stored as rows that are replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.alerts.silence import MATCHERS, Silence
from rt4chart_collector.store.engine.columns import Actor, IsDeleted, Note, Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    TIME_MS,
    RowTable,
    StoredAs,
    batch_token,
    field_values,
    read,
)


def _json_of(matchers: Mapping[str, Any]) -> str:
    return json.dumps(dict(matchers), ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class SilenceRow:
    """A stored silence; its times are in milliseconds."""

    id: Annotated[str, StoredAs("SilenceId", "String")]
    matchers: Annotated[
        Mapping[str, str], StoredAs("Matchers", "String", read=json.loads, write=_json_of)
    ]
    starts_ns: Annotated[int, StoredAs("Starts", TIME_MS)]
    ends_ns: Annotated[int, StoredAs("Ends", TIME_MS)]
    actor: Actor
    note: Note
    version: Version
    is_deleted: IsDeleted = False


SILENCES = RowTable("rt4chart_silences", SilenceRow)
CURRENT_SILENCES = f"""
SELECT {SILENCES.select()} FROM rt4chart_silences FINAL
WHERE IsDeleted = 0 AND Ends > fromUnixTimestamp64Milli({{now:Int64}})
ORDER BY Starts, SilenceId
LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names alone
MAX_SILENCES = 10_000
MS = 1_000_000
MAX_NOTE = 500


def silences(client: Client, now_ns: int) -> list[Silence]:
    """The current and future silences, by their start."""
    rows = read(client, SilenceRow, CURRENT_SILENCES, {"now": now_ns // MS, "limit": MAX_SILENCES})
    return [Silence(**field_values(row, Silence)) for row in rows]


def add_silence(client: Client, silence: Silence, *, now_ns: int) -> Silence:
    """Write a silence; returns it as stored, in whole milliseconds.

    Raises InputError where it ends before it starts or before now, or has an unknown matcher.
    """
    stored = replace(
        silence,
        starts_ns=silence.starts_ns // MS * MS,
        ends_ns=silence.ends_ns // MS * MS,
        note=silence.note[:MAX_NOTE],
    )
    if stored.ends_ns <= max(stored.starts_ns, now_ns):
        raise InputError(
            "expected a silence that ends after now and after its start, got an earlier end"
        )
    if unknown := sorted(set(stored.matchers) - set(MATCHERS)):
        raise InputError(f"expected matchers of {', '.join(MATCHERS)}, got {', '.join(unknown)}")
    _write(client, stored, now_ns, is_deleted=False)
    return stored


def remove_silence(client: Client, silence_id: str, *, now_ns: int) -> Silence:
    """End a silence now; raises InputError for an unknown id or a silence that is over."""
    known = next(
        (silence for silence in silences(client, now_ns) if silence.id == silence_id), None
    )
    if known is None:
        raise InputError(f"expected the id of a silence that is not over, got {silence_id!r}")
    _write(client, known, now_ns, is_deleted=True)
    return known


def _write(client: Client, silence: Silence, now_ns: int, *, is_deleted: bool) -> None:
    row = SilenceRow(id=silence.id, **field_values(silence), version=now_ns, is_deleted=is_deleted)
    SILENCES.insert(client, [row], token=batch_token("silence", [(silence.id, now_ns, is_deleted)]))
