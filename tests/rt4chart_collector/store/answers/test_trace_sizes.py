"""Traces that are too large to be read whole: each value is bounded, and the span says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.spans.model.record import SpanEvent, SpanRecord
from otel_rt4chart.spans.model.shortening import is_shortened
from rt4chart_collector.store.answers import trace_sizes as trace_sizes_module
from rt4chart_collector.store.answers.spans import insert_spans, spans_of
from rt4chart_collector.store.answers.trace_sizes import (
    first_traces,
    shares_of_large,
    trace_sizes,
    trace_times,
)
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import SECOND, SPAN, trace_spans

KIB = 1024
LONG = "The train is late – 遅れ. " * 8 * KIB


def large_trace(number: int) -> list[SpanRecord]:
    """A trace of ten spans with a long value and a short one in attributes and in an event."""
    texts = {"output.value": LONG, "name": "train"}
    event = SpanEvent(name="said", time_ns=SPAN.start_ns, attributes=texts)
    return [
        replace(
            SPAN,
            trace_id=f"{number:032x}",
            span_id=f"{at:016x}",
            attributes=texts,
            events=(event,),
        )
        for at in range(1, 11)
    ]


def text_bytes(spans: list[SpanRecord]) -> int:
    """The bytes of the values of attributes and events."""
    values = [
        str(value)
        for span in spans
        for found in (span.attributes, *(event.attributes for event in span.events))
        for value in found.values()
    ]
    return sum(len(value.encode()) for value in values)


def test_of_a_large_trace_the_longest_values_are_shortened(any_client: Client) -> None:
    """All spans are there, the short values whole, and each span counts what was cut."""
    spans = large_trace(1)
    insert_spans(any_client, spans)

    found = spans_of(any_client, [spans[0].trace_id], max_bytes=200 * KIB)

    assert [span.span_id for span in found] == [span.span_id for span in spans]
    assert 20 * KIB < text_bytes(found) < 201 * KIB
    for span in found:
        assert span.attributes["name"] == "train"
        assert is_shortened(span.attributes["output.value"])
        assert is_shortened(span.events[0].attributes["output.value"])
        assert span.shortened_attributes == 2
        assert LONG.startswith(str(span.attributes["output.value"]).split("…")[0].rstrip("�"))


def test_other_traces_beside_a_large_one_are_whole(any_client: Client) -> None:
    """The largest are shortened first; the order stays that of traces and times."""
    large, small = large_trace(2**100), trace_spans(1)
    insert_spans(any_client, [*large, *small])

    found = spans_of(any_client, [large[0].trace_id, small[0].trace_id], max_bytes=200 * KIB)

    assert [one for one in found if one.trace_id == small[0].trace_id] == sorted(
        small, key=lambda one: (one.start_ns, one.span_id)
    )
    assert [one.trace_id for one in found] == sorted(one.trace_id for one in found)


def test_a_trace_within_the_bound_is_read_as_it_is(any_client: Client) -> None:
    """Nothing is shortened, and nothing is counted."""
    spans = large_trace(3)
    insert_spans(any_client, spans)

    assert spans_of(any_client, [spans[0].trace_id]) == spans
    assert trace_sizes(any_client, [spans[0].trace_id])[spans[0].trace_id] > text_bytes(spans)


def test_traces_are_read_together_as_far_as_they_fit(
    any_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one always, however large it is."""
    monkeypatch.setattr("rt4chart_collector.store.answers.trace_sizes.READ_BYTES", 5_000_000)
    spans = [span for number in (4, 5, 6) for span in large_trace(number)]
    ids = sorted({span.trace_id for span in spans})
    insert_spans(any_client, spans)
    size = trace_sizes(any_client, ids)[ids[0]]

    assert first_traces(any_client, ids) == ids[: max(1, 5_000_000 // size)]
    assert first_traces(any_client, ids[:1]) == ids[:1]
    assert first_traces(any_client, ["f" * 32]) == ["f" * 32]


def test_sizes_are_the_same_where_memory_is_short(
    any_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few spans at once are counted then; another error of the store stays one."""
    large, small = large_trace(7), trace_spans(8)
    ids = [large[0].trace_id, small[0].trace_id, "f" * 32]
    insert_spans(any_client, [*large, *small])
    sizes = trace_sizes(any_client, ids)
    assert sorted(sizes) == sorted(ids[:2])

    monkeypatch.setitem(trace_sizes_module.LITTLE_MEMORY, "max_memory_usage", 1)
    assert trace_sizes(any_client, ids) == sizes

    monkeypatch.setitem(trace_sizes_module.LITTLE_MEMORY, "max_memory_usage", "little")
    with pytest.raises(StoreError):
        trace_sizes(any_client, ids)


def test_times_of_traces_hold_all_of_their_spans(any_client: Client) -> None:
    """At most a second wider on each side; traces without spans have none."""
    first = trace_spans(9)
    later = [replace(one, start_ns=one.start_ns + 3 * 86_400 * SECOND) for one in trace_spans(10)]
    insert_spans(any_client, [*first, *later])
    ids = [first[0].trace_id, later[0].trace_id]

    found = trace_times(any_client, ids)

    assert found is not None
    starts = [one.start_ns for one in (*first, *later)]
    assert 0 <= min(starts) - found.since_ns <= SECOND
    assert 0 <= found.until_ns - max(starts) <= SECOND
    assert {one.trace_id for one in spans_of(any_client, ids)} == set(ids)
    assert trace_times(any_client, ["f" * 32]) is None
    assert trace_sizes(any_client, ["f" * 32]) == {}
    assert spans_of(any_client, ["f" * 32]) == []


@given(
    sizes=st.dictionaries(st.text(max_size=3), st.integers(0, 1_000), max_size=8),
    most=st.integers(0, 4_000),
)
def test_shares_keep_to_the_bound_and_spare_the_small(sizes: dict[str, int], most: int) -> None:
    """Nothing is shortened without need, and nothing that is smaller than what is."""
    shares = shares_of_large(sizes, most)

    read = {trace_id: min(size, shares.get(trace_id, size)) for trace_id, size in sizes.items()}
    assert sum(read.values()) <= most
    assert bool(shares) == (sum(sizes.values()) > most)
    assert len(set(shares.values())) <= 1
    whole = [size for trace_id, size in sizes.items() if trace_id not in shares]
    assert all(size <= share for size in whole for share in shares.values())
