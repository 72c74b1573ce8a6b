from __future__ import annotations

import threading

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from otel_rt4chart.inline.span_queue import SpanQueue


def span() -> ReadableSpan:
    """An ended span of a trace of its own."""
    one = TracerProvider(shutdown_on_exit=False).get_tracer("t").start_span("s")
    one.end()
    assert isinstance(one, ReadableSpan)
    return one


def test_spans_come_out_in_order_once() -> None:
    """As they were offered."""
    queue, spans = SpanQueue(3), [span(), span()]

    assert [queue.offer(one) for one in spans] == [True, True]

    assert queue.take() == spans
    assert (queue.take(), queue.dropped, queue.take_lost_traces()) == ([], 0, set())


def test_a_full_queue_counts_and_remembers_the_trace() -> None:
    """What is there stays; what comes is dropped."""
    queue, first, second = SpanQueue(1), span(), span()
    queue.offer(first)

    assert not queue.offer(second)

    context = second.get_span_context()
    assert context is not None
    assert queue.dropped == 1
    assert queue.take_lost_traces() == {context.trace_id}
    assert queue.take_lost_traces() == set()
    assert queue.take() == [first]


def test_no_span_is_lost_unseen_between_threads() -> None:
    """What was offered was taken, waits, or is counted."""
    queue, one, taken = SpanQueue(50), span(), [0]
    threads = [
        threading.Thread(target=lambda: [queue.offer(one) for _ in range(2_000)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        taken[0] += len(queue.take())
    taken[0] += len(queue.take())

    assert taken[0] + queue.dropped == 8_000
