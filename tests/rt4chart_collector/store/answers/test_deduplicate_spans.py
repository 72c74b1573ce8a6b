"""Spans sent again: stored once in whatever batch they come, also after a restart or a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.semconv import SHORTENED_ATTRIBUTES
from otel_rt4chart.spans.model.record import SpanEvent, SpanLink, SpanRecord
from rt4chart_collector.store.answers.deduplicate_spans import (
    WINDOW_NS,
    InsertedSpans,
    SpanDeduplicator,
    SpanMemory,
)
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_int
from tests.rt4chart_collector.records import NOON, SPAN, trace_spans

ROWS = "SELECT count() FROM otel_traces"
SPANS = [span for number in range(1, 5) for span in trace_spans(number)]


def deduplicator(
    client: Client, *, capacity: int = 1_000, now_ns: int = NOON + 10**9
) -> SpanDeduplicator:
    """One that was started an instant after the spans."""
    return SpanDeduplicator(client, capacity=capacity, now_ns=now_ns)


def test_span_is_stored_once_in_whatever_batches_it_comes(any_client: Client) -> None:
    """Duplicates within a batch, and spans of earlier batches in other groups, add no row."""
    deduplicate = deduplicator(any_client)

    results = [
        deduplicate.insert(batch)
        for batch in (SPANS[:5], [*SPANS[3:9], *SPANS[3:9]], SPANS[::-1], SPANS[::2])
    ]

    assert results == [
        InsertedSpans(5),
        InsertedSpans(4, duplicates=8),
        InsertedSpans(3, duplicates=9),
        InsertedSpans(0, duplicates=6),
    ]
    assert read_int(any_client, ROWS) == len(SPANS)


@pytest.mark.parametrize("now_ns", [NOON + 10**9, NOON + 30 * WINDOW_NS])
def test_restart_forgets_nothing(any_client: Client, now_ns: int) -> None:
    """Of spans within the last day and, because old spans are looked up, of older ones."""
    deduplicator(any_client).insert(SPANS[:7])

    found = deduplicator(any_client, now_ns=now_ns).insert(SPANS)

    assert found == InsertedSpans(len(SPANS) - 7, duplicates=7)
    assert read_int(any_client, ROWS) == len(SPANS)


def test_every_content_comes_back_from_the_store_as_it_went_in(any_client: Client) -> None:
    """Values that are no text, events, links and counts of dropped attributes included."""
    span = replace(
        SPAN,
        attributes={"n": 1, "f": 0.5, "b": True, "list": ("a", 1), "map": {"k": (1, 2)}, "e": ""},
        events=(SpanEvent("e", 5, {"n": 2, "f": 1.0}), SpanEvent("", 0)),
        links=(SpanLink("d" * 32, "e" * 16, {"n": 3}), SpanLink("", "")),
        resource={"service.name": "shöp", "n": 4},
        dropped_events=2,
        shortened_attributes=3,
    )
    deduplicator(any_client).insert([span])

    assert deduplicator(any_client).insert([span]) == InsertedSpans(0, duplicates=1)


OTHERS = (
    {"name": "other"},
    {"start_ns": SPAN.start_ns - 1},
    {"end_ns": SPAN.end_ns + 1},
    {"parent_span_id": ""},
    {"attributes": {**SPAN.attributes, "more": "1"}},
    {"resource": {"service.name": "other"}},
    {"events": ()},
    {"links": ()},
    {"status": "Ok"},
)


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: next(iter(other)))
@pytest.mark.parametrize("is_restarted", [False, True])
def test_another_content_under_stored_ids_is_a_conflict(
    any_client: Client, other: dict[str, object], is_restarted: bool
) -> None:
    """The first content stays; the position of the other is reported, the rest is stored."""
    deduplicate = deduplicator(any_client)
    deduplicate.insert([SPAN])
    if is_restarted:
        deduplicate = deduplicator(any_client)
    changed = replace(SPAN, **other)  # type: ignore[arg-type]

    found = deduplicate.insert([*SPANS[:2], changed, SPANS[2], changed])

    assert found == InsertedSpans(3, conflicts=(2, 4))
    assert spans_of(any_client, [SPAN.trace_id]) == [SPAN]


def test_order_of_attributes_is_no_content(any_client: Client) -> None:
    """A map has no order."""
    one = replace(SPAN, attributes={"a": "1", "b": "2"})
    deduplicate = deduplicator(any_client)
    deduplicate.insert([one])

    again = replace(SPAN, attributes={"b": "2", "a": "1"})

    assert deduplicate.insert([again]) == InsertedSpans(0, duplicates=1)


class FailingClient(Client):
    """Fails the next insert, before or after the rows are stored."""

    fails = ""

    def insert(self, *args: object, **options: object) -> int:
        """Insert unless told to fail."""
        fails, self.fails = self.fails, ""
        if fails == "before":
            raise StoreError("away")
        rows = super().insert(*args, **options)  # type: ignore[arg-type]
        if fails == "after":
            raise StoreError("no answer")
        return rows


@pytest.mark.parametrize("fails", ["before", "after"])
def test_insert_that_failed_may_have_stored_its_spans(client: Client, fails: str) -> None:
    """What comes again in other batches is looked up: stored where it is missing, else not."""
    failing = FailingClient(client._driver, client.target)
    deduplicate = deduplicator(failing)
    failing.fails = fails

    with pytest.raises(StoreError):
        deduplicate.insert(SPANS[:6])
    results = [deduplicate.insert(batch) for batch in (SPANS[:2], SPANS[2:8], SPANS)]

    stored = [result.stored for result in results]
    assert stored == ([2, 6, 4] if fails == "before" else [0, 2, 4])
    assert read_int(client, ROWS) == len(SPANS)


def test_memory_keeps_half_of_its_capacity_at_least() -> None:
    """And never more than all of it."""
    memory, sizes = SpanMemory(100), []
    for first in range(0, 1_000, 10):
        memory.update(dict.fromkeys(range(first, first + 10), 1))
        sizes.append(len(memory))
        last = range(max(first - 40, 0), first + 10)
        assert [memory.get(key) for key in last] == [1] * len(last)

    assert max(sizes) == 90
    assert memory.get(890) is None


def test_start_reads_as_many_ids_as_the_memory_takes(client: Client) -> None:
    """The latest ones; older spans are looked up, so that they are recognized all the same."""
    spans: Sequence[SpanRecord] = [
        span for number in range(10) for span in trace_spans(number, start_ns=NOON + number)
    ]
    deduplicator(client).insert(spans)

    started = deduplicator(client, capacity=20)

    assert len(started._memory) <= 10
    assert [started.insert([span]).stored for span in reversed(spans)] == [0] * 30


def test_counts_that_a_client_made_up_are_no_counts(any_client: Client) -> None:
    """A span with such an attribute is read all the same, and its trace verified."""
    names = ("otel.dropped_attributes_count", "otel.dropped_events_count", SHORTENED_ATTRIBUTES)
    made_up = replace(SPAN, attributes=dict(zip(names, ("many", "-1", "9" * 5_000), strict=True)))
    deduplicator(any_client).insert([made_up])

    assert spans_of(any_client, [SPAN.trace_id]) == [replace(SPAN, attributes={})]
