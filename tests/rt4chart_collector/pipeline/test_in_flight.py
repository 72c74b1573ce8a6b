"""Traces with the workers, withdrawn while one has them."""

from __future__ import annotations

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from rt4chart_collector.ingest.kafka.offset_tracker import MessageId, OffsetTracker
from rt4chart_collector.pipeline.in_flight import InFlight, LeasedTrace, PartitionFilter
from rt4chart_collector.store.engine.columns import TraceShare


def trace(name: str = "a") -> AssembledTrace:
    """A trace without spans; each call makes another of the same name."""
    return AssembledTrace(name, (), is_whole=True)


def every(leased: LeasedTrace) -> bool:
    """Matches any trace."""
    return isinstance(leased, LeasedTrace)


def test_result_is_the_one_that_the_worker_reported() -> None:
    """Decided, or left undecided."""
    in_flight, first, second = InFlight(9), trace("a"), trace("b")
    in_flight.hand_over([first, second])

    in_flight.queue.done(in_flight.queue.lease(9), {"b"})

    assert [(leased.trace, left) for leased, left in in_flight.take_results()] == [
        (first, False),
        (second, True),
    ]
    assert len(in_flight) == 0


def test_withdrawn_trace_is_not_owned_until_its_worker_is_done() -> None:
    """The same trace, read again, is."""
    in_flight, early, late = InFlight(9), trace(), trace()
    in_flight.hand_over([early])
    in_flight.queue.lease(9)
    in_flight.withdraw(every)
    in_flight.hand_over([late])

    before = in_flight.is_owned("a")
    in_flight.queue.done([early])

    assert (before, in_flight.is_owned("a")) == (False, True)
    assert in_flight.take_results() == []
    in_flight.queue.done(in_flight.queue.lease(9))
    assert [leased.trace for leased, _ in in_flight.take_results()] == [late]


def test_waiting_trace_is_withdrawn_without_a_fence() -> None:
    """No worker will report it."""
    in_flight, one = InFlight(9), trace()
    in_flight.hand_over([one])

    in_flight.withdraw(every)

    assert in_flight.is_owned("a")
    assert (len(in_flight), in_flight.size, in_flight.queue.pending) == (0, 0, 0)


def test_waiting_traces_alone_are_withdrawn_first() -> None:
    """A worker that has one may still finish it."""
    in_flight = InFlight(9)
    in_flight.hand_over([trace("a"), trace("b")])
    in_flight.queue.lease(1)

    in_flight.withdraw_waiting(every)

    assert (len(in_flight), in_flight.is_owned("a"), in_flight.queue.pending) == (1, True, 1)
    assert in_flight.contains(every)


def test_trace_is_handed_over_with_the_messages_noted_for_it() -> None:
    """They are forgotten for the open trace of that id then, or when it is dropped."""
    in_flight, one = InFlight(9), MessageId(0, 1, 5)
    for trace_id in ("a", "b"):
        in_flight.note(trace_id, one)
    in_flight.hand_over([trace("a")])
    in_flight.forget(["b"])

    in_flight.queue.done(in_flight.queue.lease(9))

    assert [leased.messages for leased, _ in in_flight.take_results()] == [frozenset({one})]
    assert (list(in_flight.messages_of("a")), list(in_flight.messages_of("b"))) == ([], [])


def test_trace_with_messages_of_two_partitions_stays_while_one_is_assigned() -> None:
    """One that was read from the store goes with its hash."""
    offsets, share = OffsetTracker(), TraceShare(2, frozenset({0, 1}))
    offsets.assign([0, 1])
    messages = {offsets.track(0, 5, 1), offsets.track(1, 5, 1)}
    known = frozenset(one for one in messages if one is not None)
    both, stored = LeasedTrace(trace(), known, 0), LeasedTrace(trace(), frozenset(), 0)

    of_the_first = PartitionFilter(frozenset({0}), share, offsets)

    assert not of_the_first(both)
    assert of_the_first(stored) == (share.number_of("a") == 0)
    offsets.revoke([1])
    assert of_the_first(both)
