"""What stands above a span, whatever shape the trace has."""

from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.exchange.span_tree import TURN_KINDS, SpanTree
from otel_rt4chart.spans.model.span_view import OperationKind
from tests.otel_rt4chart.spans.model.made import KIND, generation, made, retriever

NODES = st.lists(st.tuples(st.sampled_from(list(OperationKind)), st.integers(0, 12)), max_size=12)


@given(NODES)
def test_lines_say_what_a_walk_upwards_says(nodes: list[tuple[OperationKind, int]]) -> None:
    """The outermost span, the outermost chain or agent, and the kinds; parents come first here."""
    tree = SpanTree(
        made(number, parent % number, {KIND: kind.value} if kind else {})
        for number, (kind, parent) in enumerate(nodes, start=1)
    )

    for one in tree:
        line = [one, *tree.ancestors(one)]
        turns = [step for step in line if step.kind in TURN_KINDS]
        assert tree.root(one) is line[-1]
        assert tree.turn(one) is (turns or line)[-1]
        assert [kind for kind in OperationKind if tree.is_inside(one, (kind,))] == [
            kind for kind in OperationKind if kind in {step.kind for step in line[1:]}
        ]


@given(NODES)
def test_any_loop_of_parents_ends(nodes: list[tuple[OperationKind, int]]) -> None:
    """Every span has a turn and a root, its own parent or not."""
    tree = SpanTree(
        made(number, parent, {KIND: kind.value} if kind else {})
        for number, (kind, parent) in enumerate(nodes, start=1)
    )

    assert all(tree.turn(one) in tree and tree.root(one) in tree for one in tree)


def test_our_own_spans_are_left_out() -> None:
    """A verdict is no part of what it is about."""
    ours = replace(made(2, 1, {KIND: "EVALUATOR"}), scope_name="otel_rt4chart")

    assert [one.span.span_id for one in SpanTree([made(1, 0, {}), ours])] == [f"{1:016x}"]


def test_traces_of_thousands_of_spans_are_read_in_linear_time() -> None:
    """Deep ones, wide ones, and batches: each took seconds where every span walked to the root."""
    deep = [made(number, number - 1, {KIND: "CHAIN"}) for number in range(1, 2_000)]
    wide = [retriever(number, 1, f"Passage {number}.") for number in range(2_000, 4_000)]
    batch = [
        one
        for turn in range(50_000, 60_000, 20)
        for one in (made(turn, 0, {KIND: "CHAIN"}), generation(turn + 1, turn, f"Answer {turn}."))
    ]
    start = time.process_time()

    found = find_candidates([*deep, *wide, generation(5_000, 1_999, "30 days."), *batch])

    assert len(found) == 501
    assert time.process_time() - start < 5


def test_many_turns_below_many_spans_are_read_in_bounded_time() -> None:
    """Each of 4,000 answers read all 4,000 spans above it, twice: minutes."""
    above = [made(number, number - 1, {}) for number in range(1, 4_000)]
    turns = [
        one
        for turn in range(50_000, 90_000, 10)
        for one in (
            made(turn, 3_999, {KIND: "CHAIN"}),
            generation(turn + 1, turn, f"Answer {turn}."),
        )
    ]
    start = time.process_time()

    found = find_candidates([*above, *turns])

    assert len(found) == 4_000
    assert time.process_time() - start < 30
