"""Open traces: closed when they fall quiet, and never a span lost unseen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.exchange.assembly import (
    AssembledTrace,
    TraceBuffer,
    TraceTimeouts,
    span_bytes,
)
from otel_rt4chart.spans.model.record import SpanRecord
from tests.rt4chart_collector.records import SPAN, trace_spans

TIMEOUTS = TraceTimeouts(quiet_ns=10, orphan_ns=100, max_ns=1000)


def buffer(max_bytes: int = 10**6) -> TraceBuffer:
    """An empty buffer."""
    return TraceBuffer(TIMEOUTS, max_bytes=max_bytes)


def ids(spans: tuple[SpanRecord, ...]) -> set[str]:
    """The span ids."""
    return {span.span_id for span in spans}


def test_trace_with_its_root_closes_when_quiet() -> None:
    """Each new span starts the quiet anew; what comes out is whole."""
    traces = buffer()
    *children, root = trace_spans(1)
    traces.add([root, *children[:1]], 0)
    traces.add(children[1:], 8)

    assert traces.close(17, 9) == []
    (closed,) = traces.close(18, 9)

    assert (closed.trace_id, closed.is_whole) == (root.trace_id, True)
    assert ids(closed.spans) == ids((*children, root))
    assert (len(traces), traces.size) == (0, 0)


def test_trace_without_its_root_waits_longer() -> None:
    """It closes in the end, and says that there may be more of it."""
    traces = buffer()
    traces.add(trace_spans(1)[:2], 0)

    assert traces.close(99, 9) == []
    assert [trace.is_whole for trace in traces.close(100, 9)] == [False]


def test_server_span_of_another_process_is_a_root() -> None:
    """Its parent will never come here."""
    traces = buffer()
    traces.add([replace(SPAN, kind="Server", parent_span_id="9" * 16)], 0)

    assert [trace.is_whole for trace in traces.close(10, 9)] == [True]


def test_trace_that_never_falls_quiet_closes_at_its_age() -> None:
    """A span every moment does not keep a trace open for ever."""
    traces = buffer()
    for now in range(0, 1001, 5):
        traces.add([replace(SPAN, span_id=f"{now:016x}", parent_span_id="")], now)

    assert [len(trace.spans) for trace in traces.close(1000, 9)] == [201]


def test_late_span_reopens_its_trace_as_a_part() -> None:
    """The rest of it is in the store, and the worker is told to look there."""
    traces = buffer()
    *children, root = trace_spans(1)
    traces.add([*children, root], 0)
    traces.close(10, 9)

    traces.add([replace(root, span_id="f" * 16)], 20)

    assert [(len(t.spans), t.is_whole) for t in traces.close(30, 9)] == [(1, False)]


def test_span_that_comes_twice_is_kept_once() -> None:
    """A client's second attempt changes nothing, the weight neither."""
    traces = buffer()
    traces.add([SPAN], 0)
    size = traces.size

    traces.add([SPAN, SPAN], 1)

    assert traces.size == size == span_bytes(SPAN)
    assert [len(trace.spans) for trace in traces.close_all()] == [1]


def test_close_gives_no_more_than_asked_for() -> None:
    """The oldest go first, the others stay open."""
    traces = buffer()
    for number in (1, 2, 3):
        traces.add(trace_spans(number), number)

    assert [t.trace_id for t in traces.close(50, 2)] == [f"{1:032x}", f"{2:032x}"]
    assert len(traces) == 1


def test_over_its_memory_the_oldest_trace_is_given_up_and_counted() -> None:
    """It is in the store; a late span of it is known as a part."""
    traces = buffer(max_bytes=4 * span_bytes(SPAN))
    first, second = trace_spans(1), trace_spans(2)
    traces.add(first, 0)

    traces.add(second, 1)

    assert (traces.evicted_traces, traces.evicted_spans) == (1, 3)
    assert not traces.has_room
    assert [t.trace_id for t in traces.close_all()] == [second[0].trace_id]
    traces.add(first[2:], 2)
    assert [t.is_whole for t in traces.close_all()] == [False]


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 5), st.booleans(), st.integers(0, 60)),
        max_size=40,
    ),
    room=st.integers(1, 8),
)
def test_every_span_comes_out_once_or_is_counted_as_given_up(
    steps: list[tuple[int, int, bool, int]], room: int
) -> None:
    """Whatever the order of spans, pauses and closings, and however small the memory."""
    traces = buffer(max_bytes=room * span_bytes(SPAN))
    now = 0
    went_in: set[tuple[str, str]] = set()
    came_out: Counter[tuple[str, str]] = Counter()
    for number, (trace, salt, is_root, pause) in enumerate(steps):
        now += pause
        span = replace(
            SPAN,
            trace_id=f"{trace:032x}",
            span_id=f"{number * 8 + salt:016x}",
            parent_span_id="" if is_root else SPAN.parent_span_id,
        )
        went_in.add((span.trace_id, span.span_id))
        traces.add([span], now)
        assert traces.size <= room * span_bytes(SPAN)
        came_out.update((s.trace_id, s.span_id) for t in traces.close(now, 2) for s in t.spans)
    came_out.update((s.trace_id, s.span_id) for t in traces.close_all() for s in t.spans)

    assert set(came_out) <= went_in
    assert set(came_out.values()) <= {1}
    assert len(came_out) + traces.evicted_spans == len(went_in)
    assert (len(traces), traces.size) == (0, 0)


def test_a_root_that_is_known_as_such_ends_the_wait() -> None:
    """Its parent is in another process, though it is no server's span."""
    traces = buffer()
    traces.add([replace(SPAN, kind="Internal", parent_span_id="9" * 16)], 0, is_root=True)

    assert [trace.is_whole for trace in traces.close(10, 9)] == [True]


def test_rooted_traces_can_be_closed_at_once() -> None:
    """The others wait on for their roots."""
    traces = buffer()
    traces.add(trace_spans(1), 0)
    traces.add(trace_spans(2)[:2], 0)

    assert [trace.trace_id for trace in traces.close_rooted()] == [f"{1:032x}"]
    assert len(traces) == 1


def test_who_wants_to_know_is_told_of_traces_given_up() -> None:
    """Whole as they were."""
    told: list[AssembledTrace] = []
    traces = TraceBuffer(TIMEOUTS, max_bytes=4 * span_bytes(SPAN), on_evict=told.append)
    traces.add(trace_spans(1), 0)

    traces.add(trace_spans(2), 1)

    assert [(one.trace_id, len(one.spans)) for one in told] == [(f"{1:032x}", 3)]


def carrier(trace_id: str) -> SpanRecord:
    """A verdict on an answer of that trace, as another process stores or sends it."""
    return replace(SPAN, trace_id=trace_id, span_id="f" * 16, scope_name=semconv.SCOPE_NAME)


def test_verdict_neither_opens_a_trace_nor_keeps_it_open() -> None:
    """It comes after its trace was read, and says nothing about what is still to come."""
    traces = buffer()
    spans = trace_spans(1)
    traces.add([carrier("7" * 32)], 0)
    assert len(traces) == 0
    traces.add(spans, 0)

    traces.add([carrier(spans[0].trace_id)], 9)

    (closed,) = traces.close(10, 9)
    assert (ids(closed.spans), closed.is_whole) == (ids(spans), True)


def test_verdict_does_not_open_its_trace_again() -> None:
    """A late span of the application does, and is then judged with the others."""
    traces = buffer()
    spans = trace_spans(1)
    traces.add(spans, 0)
    traces.close(10, 9)

    traces.add([carrier(spans[0].trace_id)], 11)

    assert (len(traces), traces.size) == (0, 0)
