"""Snoozes and maintenance windows, as rows that are replaced."""

from __future__ import annotations

import json
from dataclasses import replace

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.alerts.silence import MATCHERS, Silence
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import Layout, token_of

SILENCES = Layout(
    "rt4chart_silences",
    (
        ("SilenceId", "String"),
        ("Matchers", "String"),
        ("Starts", "DateTime64(3, 'UTC')"),
        ("Ends", "DateTime64(3, 'UTC')"),
        ("Actor", "String"),
        ("Note", "String"),
        ("Version", "UInt64"),
        ("IsDeleted", "UInt8"),
    ),
)
NOT_OVER = """
SELECT SilenceId, Matchers, toUnixTimestamp64Milli(Starts) AS starts, toUnixTimestamp64Milli(Ends) AS ends,
    Actor, Note
FROM rt4chart_silences FINAL
WHERE IsDeleted = 0 AND Ends > fromUnixTimestamp64Milli({now:Int64})
ORDER BY starts, SilenceId
LIMIT {limit:UInt32}
"""  # noqa: E501
MOST = 10_000
MS = 1_000_000
TEXT = 500


def silences(client: Client, now_ns: int) -> list[Silence]:
    """Those that hold now or will, by their beginning."""
    rows = client.query(NOT_OVER, {"now": now_ns // MS, "limit": MOST}).result_rows
    return [
        Silence(starts * MS, ends * MS, json.loads(matchers), actor, note)
        for _, matchers, starts, ends, actor, note in rows
    ]


def add_silence(client: Client, silence: Silence, *, now_ns: int) -> Silence:
    """Write a silence, and give it as it is kept, to the millisecond.

    Raises InputError where it would end before it begins, is over, or names an unknown label.
    """
    kept = replace(
        silence,
        starts_ns=silence.starts_ns // MS * MS,
        ends_ns=silence.ends_ns // MS * MS,
        note=silence.note[:TEXT],
    )
    if kept.ends_ns <= max(kept.starts_ns, now_ns):
        raise InputError(
            "expected a silence that ends after now and after it begins, got an earlier end"
        )
    if unknown := sorted(set(kept.matchers) - set(MATCHERS)):
        raise InputError(f"expected matchers of {', '.join(MATCHERS)}, got {', '.join(unknown)}")
    _write(client, kept, now_ns, is_deleted=False)
    return kept


def remove_silence(client: Client, silence_id: str, *, now_ns: int) -> Silence:
    """End a silence now; InputError where there is none of that id that is not over."""
    known = next((one for one in silences(client, now_ns) if one.id == silence_id), None)
    if known is None:
        raise InputError(f"expected the id of a silence that is not over, got {silence_id!r}")
    _write(client, known, now_ns, is_deleted=True)
    return known


def _write(client: Client, silence: Silence, now_ns: int, *, is_deleted: bool) -> None:
    row = (
        silence.id,
        json.dumps(dict(silence.matchers), ensure_ascii=False, sort_keys=True),
        silence.starts_ns // MS,
        silence.ends_ns // MS,
        silence.actor,
        silence.note,
        now_ns,
        int(is_deleted),
    )
    SILENCES.insert(client, [row], token=token_of("silence", [(silence.id, now_ns, is_deleted)]))
