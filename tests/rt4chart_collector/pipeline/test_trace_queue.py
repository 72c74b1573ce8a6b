"""The queue of closed traces: bounded, and one worker a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from rt4chart_collector.pipeline.service_turns import AT_ONCE
from rt4chart_collector.pipeline.trace_queue import LARGE_BYTES, TraceQueue
from tests.rt4chart_collector.pipeline.line import spans_from


def trace(name: str) -> AssembledTrace:
    """A trace without spans."""
    return AssembledTrace(name, (), is_whole=True)


def test_traces_come_out_in_order_as_many_as_asked_for() -> None:
    """First in, first out; the room is what the limit leaves."""
    queue = TraceQueue(3)
    queue.put([trace("a"), trace("b")])

    assert queue.room == 1
    assert [t.trace_id for t in queue.lease(1)] == ["a"]
    assert (queue.room, queue.pending) == (2, 2)


def test_trace_in_hand_is_not_leased_a_second_time() -> None:
    """Its second coming is held back until the first is done."""
    queue = TraceQueue(9)
    queue.put([trace("a"), trace("a"), trace("b")])

    first = queue.lease(9)

    assert [t.trace_id for t in first] == ["a", "b"]
    assert queue.pending == 3
    queue.done(first)
    again = queue.lease(9)
    assert [t.trace_id for t in again] == ["a"]
    queue.done(again)
    assert queue.pending == 0


def test_closed_queue_gives_what_it_has_and_then_nothing() -> None:
    """That ends the workers."""
    queue = TraceQueue(9)
    queue.put([trace("a")])
    queue.close()

    queue.done(queue.lease(9))

    assert queue.lease(9) == []


def test_abandoned_queue_counts_what_is_left() -> None:
    """Waiting, held back and in hand."""
    queue = TraceQueue(9)
    queue.put([trace("a")])
    queue.lease(1)
    queue.put([trace("a"), trace("b")])
    queue.lease(1)
    queue.close()

    assert queue.abandon() == 3
    assert queue.lease(1) == []


def test_traces_that_are_withdrawn_are_not_leased() -> None:
    """Waiting or held back; what is in hand stays in hand."""
    queue = TraceQueue(9)
    first, second, other, last = trace("a"), trace("a"), trace("b"), trace("c")
    queue.put([first])
    queue.lease(9)
    queue.put([second, last, other])
    queue.lease(1)

    gone = queue.withdraw({id(first), id(second), id(other)})

    assert gone == {id(second), id(other)}
    assert queue.pending == 2
    queue.done([first, last])
    queue.close()
    assert queue.lease(9) == []


def test_whoever_wants_hears_what_was_dealt_with_and_what_was_left() -> None:
    """Before the same trace can be leased again."""
    heard: list[tuple[list[str], list[str]]] = []
    queue = TraceQueue(
        9, on_done=lambda traces, left: heard.append(([t.trace_id for t in traces], sorted(left)))
    )
    queue.put([trace("a"), trace("b")])

    queue.done(queue.lease(9), {"b"})

    assert heard == [(["a", "b"], ["b"])]


def large(number: int) -> AssembledTrace:
    """A trace whose answer is large."""
    return AssembledTrace(str(number), spans_from(number, "x" * LARGE_BYTES), is_whole=True)


def names(traces: Sequence[AssembledTrace]) -> list[str]:
    """Their ids."""
    return [one.trace_id for one in traces]


def test_large_traces_are_leased_alone_and_not_to_all_workers() -> None:
    """In the order of arrival, as long as a worker is left for them."""
    queue = TraceQueue(9, large_at_once=1)
    queue.put([trace("a"), large(1), large(2), trace("b"), trace("c")])

    assert names(queue.lease(1)) == ["a"]
    first = queue.lease(9)
    assert names(first) == ["1"]
    assert names(queue.lease(9)) == ["b", "c"]
    assert (queue.room, queue.pending) == (8, 5)
    queue.done(first)
    assert names(queue.lease(9)) == ["2"]


def test_a_large_trace_makes_room_when_it_is_judged() -> None:
    """Its decisions are stored up to a second later; its late spans wait until they are."""
    queue = TraceQueue(9, large_at_once=1)
    queue.put([large(1), large(2), large(1)])

    first = queue.lease(9)
    queue.judged(first)

    assert names(queue.lease(9)) == ["2"]
    queue.done(first)
    queue.close()
    assert names(queue.lease(9)) == ["1"]


def test_a_closed_queue_gives_large_traces_to_every_worker() -> None:
    """The end must not wait for one of them."""
    queue = TraceQueue(9, large_at_once=1)
    queue.put([large(1), large(2)])
    queue.close()

    assert [names(queue.lease(9)) for _ in range(2)] == [["1"], ["2"]]


def test_late_spans_of_a_large_trace_wait_for_its_worker() -> None:
    """Large or not."""
    queue = TraceQueue(9, large_at_once=2)
    queue.put([large(1), trace("1"), large(1)])

    first = queue.lease(9)

    assert (names(first), queue.pending) == (["1"], 3)
    queue.close()
    queue.done(first)
    rest = queue.lease(9)
    queue.done(rest)
    assert names(rest) + names(queue.lease(9)) == ["1", "1"]


def test_the_queue_tells_how_long_the_oldest_trace_has_waited() -> None:
    """Nothing where none waits; a trace that a worker has does not count."""
    now = iter([10.0, 12.0, 15.0, 16.0])
    queue = TraceQueue(9, clock=lambda: next(now))

    assert queue.oldest_s == 0.0
    queue.put([trace("a")])
    queue.put([large(1)])
    assert queue.oldest_s == 5.0
    queue.lease(9)
    assert queue.oldest_s == 4.0


def test_services_take_turns() -> None:
    """A service with many waiting answers does not hold up the answers of another one."""
    queue = TraceQueue(99)
    queue.put([trace_of("many", number) for number in range(1, 7)])
    queue.put([trace_of("few", number) for number in range(7, 9)])

    order = [trace.spans[0].resource["service.name"] for trace in queue.lease(99)]

    assert order == ["many", "few", "many", "few", "many", "many", "many", "many"]


def trace_of(service: str, number: int) -> AssembledTrace:
    """A trace whose spans are of this service."""
    spans = tuple(
        replace(span, resource={**span.resource, "service.name": service})
        for span in spans_from(number)
    )
    return AssembledTrace(spans[0].trace_id, spans, is_whole=True)


def of_service(number: int, service: str) -> AssembledTrace:
    """The trace with this number as id, of a service of this name."""
    resource = {"service.name": service}
    spans = tuple(replace(span, resource=resource) for span in spans_from(number + 1))
    return AssembledTrace(str(number), spans, is_whole=True)


def test_made_up_names_of_services_take_one_turn_together() -> None:
    """A thousand of them came before: without that, the services would come after the last."""
    queue = TraceQueue(9_999)
    queue.put([of_service(number, f"service {number}") for number in range(AT_ONCE)])
    queue.done(queue.lease(AT_ONCE))
    queue.put([of_service(100 + number, f"made up {number}") for number in range(1_000)])
    queue.put([of_service(number, f"service {number}") for number in range(3)])

    assert names(queue.lease(4)) == ["100", "0", "1", "2"]


def test_queue_keeps_room_for_services_with_few_traces() -> None:
    """One may fill half of the queue; of the rest each may have a sixteenth."""
    queue = TraceQueue(32)
    queue.put([of_service(number, "loud") for number in range(10)])
    admits = queue.admission()

    loud = [admits(of_service(number, "loud").spans[0]) for number in range(7)]
    quiet = [admits(of_service(number, "quiet").spans[0]) for number in range(3)]

    assert loud == [True] * 6 + [False]
    assert quiet == [True, True, False]
