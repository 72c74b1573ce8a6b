"""Spans in the store: the exporter's encodings in, the same spans out, each once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.record import AttributeValue
from rt4chart_collector.store.answers.spans import (
    insert_spans,
    repair_trace_times,
    spans_of,
    text_of,
)
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND, SPAN, trace_spans

DAY = 86_400 * 10**9


def count(client: Client, table: str) -> int:
    """The rows of a table as they lie there."""
    found = client.query("SELECT count() FROM {table:Identifier}", {"table": table})
    return int(found.result_rows[0][0])


def test_span_comes_back_as_it_went_in(any_client: Client) -> None:
    """Every field survives, nanoseconds and right-to-left text included."""
    insert_spans(any_client, [SPAN])

    assert spans_of(any_client, [SPAN.trace_id]) == [SPAN]


def test_spans_of_gives_each_span_once(any_client: Client) -> None:
    """A span that a client sent twice is read once; other traces are left out."""
    spans = trace_spans(1)
    insert_spans(any_client, [*spans, *trace_spans(2)])
    insert_spans(any_client, spans[1:])

    found = spans_of(any_client, [spans[0].trace_id])

    assert sorted(found, key=lambda s: s.span_id) == sorted(spans, key=lambda s: s.span_id)


def test_same_batch_is_stored_once(any_client: Client) -> None:
    """A batch that is written again, in another order, adds no row, in the side table neither."""
    spans = [*trace_spans(1), *trace_spans(2)]

    insert_spans(any_client, spans)
    insert_spans(any_client, spans[::-1])

    assert count(any_client, "otel_traces") == 6
    assert count(any_client, "otel_traces_trace_id_ts") == 2


def test_batch_may_cover_many_days(any_client: Client) -> None:
    """A backfill over more days than a server's default of 100 partitions goes in at once."""
    spans = [s for d in range(120) for s in trace_spans(d, start_ns=NOON - d * DAY)]

    insert_spans(any_client, spans)

    assert len(spans_of(any_client, [f"{119:032x}"])) == 3


def test_no_spans_are_no_insert(client: Client) -> None:
    """An empty batch is not an error."""
    insert_spans(client, [])

    assert count(client, "otel_traces") == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (1.0, "1"),
        (0.25, "0.25"),
        (("a", 1, True), '["a",1,true]'),
        ({"k": ("é", 1.5)}, '{"k":["é",1.5]}'),
    ],
)
def test_attribute_values_are_written_as_the_exporter_does(
    value: AttributeValue, text: str
) -> None:
    """Scalars as text, arrays and maps as JSON."""
    assert text_of(value) == text


def test_the_first_spans_of_a_trace_can_be_had_alone(any_client: Client) -> None:
    """In the order of time, however many there are."""
    made = [replace(SPAN, span_id=f"{at:016x}", start_ns=NOON + at) for at in range(5)]
    insert_spans(any_client, list(reversed(made)))

    found = spans_of(any_client, [SPAN.trace_id], limit=3)

    assert [one.span_id for one in found] == [one.span_id for one in made[:3]]
    assert len(spans_of(any_client, [SPAN.trace_id])) == 5


def test_spans_are_found_after_a_crash_between_a_batch_and_its_times(any_client: Client) -> None:
    """The repair inserts the times that are missing, and nothing where none is."""
    first, later = trace_spans(1), trace_spans(2, start_ns=NOON + 3600 * SECOND)
    insert_spans(any_client, [*first, *later])
    any_client.command("TRUNCATE TABLE otel_traces_trace_id_ts")
    lost = spans_of(any_client, [first[0].trace_id])

    repair_trace_times(any_client, NOON - SECOND)
    repair_trace_times(any_client, NOON - SECOND)

    assert lost == []
    found = spans_of(any_client, [first[0].trace_id, later[0].trace_id])
    assert {span.span_id for span in found} == {span.span_id for span in (*first, *later)}
    times = any_client.query("SELECT count() FROM otel_traces_trace_id_ts")
    assert times.result_rows == [(2,)]
