"""Pieces with the workers, taken back while one has them in hand."""

from __future__ import annotations

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from rt4chart_collector.ingest.kafka.offsets import Mark, Offsets
from rt4chart_collector.pipeline.stream.in_flight import Belongs, InHand, piece_of
from rt4chart_collector.store.engine.columns import TraceShare


def trace(name: str = "a") -> AssembledTrace:
    """A trace without spans; each call makes another of the same name."""
    return AssembledTrace(name, (), is_whole=True)


def test_piece_is_settled_as_it_was_reported() -> None:
    """Dealt with, or left undecided."""
    in_hand, first, second = InHand(), trace("a"), trace("b")
    for one in (first, second):
        in_hand.give(piece_of(one, ()))

    in_hand.told([first, second], {"b"})

    assert [(piece.trace, left) for piece, left in in_hand.settled()] == [
        (first, False),
        (second, True),
    ]
    assert len(in_hand) == 0


def test_trace_that_was_taken_back_is_not_ours_until_its_worker_is_done() -> None:
    """The same trace, come again, is."""
    in_hand, early, late = InHand(), trace(), trace()
    in_hand.give(piece_of(early, ()))
    in_hand.withdraw(frozenset({id(early)}), waiting=())
    in_hand.give(piece_of(late, ()))

    before = in_hand.is_ours("a")
    in_hand.told([early], ())

    assert (before, in_hand.is_ours("a")) == (False, True)
    assert list(in_hand.settled()) == []
    in_hand.told([late], ())
    assert [piece.trace for piece, _ in in_hand.settled()] == [late]


def test_trace_that_still_waited_is_taken_back_without_a_trace() -> None:
    """No worker will report it."""
    in_hand, one = InHand(), trace()
    in_hand.give(piece_of(one, ()))

    in_hand.withdraw(frozenset({id(one)}), waiting={id(one)})

    assert in_hand.is_ours("a")
    assert (len(in_hand), in_hand.size) == (0, 0)


def test_trace_with_messages_of_two_partitions_stays_while_one_is_ours() -> None:
    """One that was read from the store goes with its hash."""
    offsets, share = Offsets(), TraceShare(2, frozenset({0, 1}))
    offsets.assign([0, 1])
    marks = {offsets.arrive(0, 5, 1), offsets.arrive(1, 5, 1)} - {None}
    one = piece_of(trace(), {mark for mark in marks if isinstance(mark, Mark)})
    other = piece_of(trace(), ())

    of_the_first = Belongs(frozenset({0}), share, offsets)

    assert not of_the_first(one)
    assert of_the_first(other) == (share.number_of("a") == 0)
    offsets.revoke([1])
    assert of_the_first(one)
