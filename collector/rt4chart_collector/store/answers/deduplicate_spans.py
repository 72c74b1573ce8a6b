"""Stores each span once: remembers the stored spans, and recognizes one that is sent again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.store.answers.spans import (
    SPANS,
    SpanRow,
    insert_rows,
    row_content,
    rows_from_spans,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

# How far back the spans of earlier processes are remembered.
WINDOW_NS = 24 * 3600 * 10**9
# A server limits the length of a parameter: 1,000 ids take a third of that.
PAGE_ROWS = 1_000
RECENT_IDS = """
SELECT TraceId, SpanId, toUnixTimestamp64Nano(Timestamp) AS Start FROM otel_traces
WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY Timestamp DESC LIMIT {limit:UInt64}
"""
STORED_ROWS = f"""
SELECT {SPANS.select()} FROM otel_traces
WHERE TraceId IN {{traces:Array(String)}} AND SpanId IN {{spans:Array(String)}}
  AND Timestamp >= (SELECT min(Start) FROM otel_traces_trace_id_ts
                    WHERE TraceId IN {{traces:Array(String)}})
  AND Timestamp <= (SELECT max(End) + 1 FROM otel_traces_trace_id_ts
                    WHERE TraceId IN {{traces:Array(String)}})
LIMIT 1 BY TraceId, SpanId
"""  # noqa: S608 - names of columns alone, values are parameters
# The content of a span that may be stored: the store has to be asked.
UNKNOWN = 0


@dataclass(frozen=True, slots=True)
class InsertedSpans:
    """The result of an insert; `conflicts` are positions in the batch, in order.

    A duplicate is already stored with the same content. A conflict has the ids of a stored span
    and another content: it is not stored.
    """

    stored: int
    duplicates: int = 0
    conflicts: tuple[int, ...] = ()


class SpanMemory:
    """Contents of the last stored spans by their keys: at most `capacity`, at least half of it.

    Two generations make forgetting cheap: the older one is dropped as a whole.
    """

    def __init__(self, capacity: int) -> None:
        """Empty."""
        self.generation_size = max(capacity // 2, 1)
        self._recent: dict[int, int] = {}
        self._older: dict[int, int] = {}

    def __len__(self) -> int:
        """The number of keys; one that is in both generations counts twice."""
        return len(self._recent) + len(self._older)

    def get(self, key: int) -> int | None:
        """The content stored under the key, or UNKNOWN; None if nothing is remembered."""
        found = self._recent.get(key)
        return self._older.get(key) if found is None else found

    def update(self, contents: dict[int, int]) -> None:
        """Remember these; a batch is kept or forgotten as a whole."""
        self._recent |= contents
        if len(self._recent) >= self.generation_size:
            self._older, self._recent = self._recent, {}

    def forget(self, keys: Iterable[int]) -> None:
        """Remember these no more."""
        for key in keys:
            self._recent.pop(key, None)
            self._older.pop(key, None)


class SpanDeduplicator:
    """Inserts spans that are not stored yet; for one thread.

    What earlier processes stored is remembered by its ids alone, and so is a batch whose insert
    failed: it may be stored all the same. The content of such a span is read from the store when
    the span is sent again. So is a span from before the remembered time. Another process that
    inserts into the same database at the same time is not seen.
    """

    def __init__(self, client: Client, *, capacity: int, now_ns: int) -> None:
        """Read the ids of the last day; `capacity` is the number of spans to remember."""
        self._client = client
        self._memory = SpanMemory(capacity)
        self._since_ns = self._load(now_ns - WINDOW_NS)

    def insert(self, spans: Sequence[SpanRecord]) -> InsertedSpans:
        """Store the new ones among the spans; after an error, send the batch again."""
        rows = rows_from_spans(spans)
        keys = [_key(row.trace_id, row.span_id) for row in rows]
        self._look_up(rows, keys)
        new: dict[int, int] = {}
        new_rows: list[SpanRow] = []
        conflicts: list[int] = []
        for position, (key, row) in enumerate(zip(keys, rows, strict=True)):
            content = row_content(row)
            known = new.get(key) or self._memory.get(key)
            if known is None:
                new[key] = content
                new_rows.append(row)
            elif known != content:
                conflicts.append(position)
        try:
            insert_rows(self._client, new_rows)
        except BaseException:  # raised again: whatever failed, rows may be stored
            self._memory.update(dict.fromkeys(new, UNKNOWN))
            raise
        self._memory.update(new)
        duplicates = len(rows) - len(new_rows) - len(conflicts)
        return InsertedSpans(len(new_rows), duplicates, tuple(conflicts))

    def _load(self, since_ns: int) -> int:
        """Remember the stored ids; returns the time from which on all of them are known."""
        limit = self._memory.generation_size
        columns = self._client.query(RECENT_IDS, {"since": since_ns, "limit": limit}).result_columns
        if not columns:
            return since_ns
        traces, spans, starts = columns
        self._memory.update(dict.fromkeys(map(_key, traces, spans), UNKNOWN))
        return since_ns if len(starts) < limit else int(starts[-1]) + 1

    def _look_up(self, rows: Sequence[SpanRow], keys: Sequence[int]) -> None:
        """Learn from the store what is stored of the rows that may be."""
        get, since_ns = self._memory.get, self._since_ns
        doubtful = {
            key: row
            for key, row in zip(keys, rows, strict=True)
            if (known := get(key)) == UNKNOWN or (known is None and row.start_ns < since_ns)
        }
        if not doubtful:
            return
        found: dict[int, int] = {}
        asked = list(doubtful.values())
        for first in range(0, len(asked), PAGE_ROWS):
            page = asked[first : first + PAGE_ROWS]
            parameters = {
                "traces": sorted({row.trace_id for row in page}),
                "spans": sorted({row.span_id for row in page}),
            }
            for row in read(self._client, SpanRow, STORED_ROWS, parameters):
                found[_key(row.trace_id, row.span_id)] = row_content(row)
        self._memory.forget(doubtful.keys() - found.keys())
        self._memory.update(found)


def _key(trace_id: str, span_id: str) -> int:
    return hash((trace_id, span_id))
