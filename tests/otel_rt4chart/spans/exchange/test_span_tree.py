"""What stands above a span, whatever shape the trace has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.exchange.span_tree import TURN_KINDS, SpanTree
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.span_view import OperationKind
from tests.function_calls import count_function_calls
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


def deep_and_wide(size: int) -> list[SpanRecord]:
    """A line of spans, one with many children, and many turns beside each other."""
    deep = [made(number, number - 1, {KIND: "CHAIN"}) for number in range(1, size)]
    wide = [retriever(number, 1, f"Passage {number}.") for number in range(size, 2 * size)]
    batch = [
        one
        for turn in range(50_000, 50_000 + 5 * size, 20)
        for one in (made(turn, 0, {KIND: "CHAIN"}), generation(turn + 1, turn, f"Answer {turn}."))
    ]
    return [*deep, *wide, generation(2 * size, size - 1, "30 days."), *batch]


def turns_below(size: int) -> list[SpanRecord]:
    """A line of spans, and as many turns below the last one."""
    above = [made(number, number - 1, {}) for number in range(1, size)]
    turns = [
        one
        for turn in range(50_000, 50_000 + 10 * size, 10)
        for one in (
            made(turn, size - 1, {KIND: "CHAIN"}),
            generation(turn + 1, turn, f"Answer {turn}."),
        )
    ]
    return [*above, *turns]


@pytest.mark.parametrize(
    ("trace", "size", "answers"), [(deep_and_wide, 1_000, 251), (turns_below, 300, 300)]
)
def test_twice_the_spans_are_no_more_than_thrice_the_work(
    trace: Callable[[int], list[SpanRecord]], size: int, answers: int
) -> None:
    """It would be four times where every span walks to the root, or reads all that stand above."""
    once, twice = trace(size), trace(2 * size)

    assert len(find_candidates(once)) == answers
    assert count_function_calls(lambda: find_candidates(twice)) < 3 * count_function_calls(
        lambda: find_candidates(once)
    )
