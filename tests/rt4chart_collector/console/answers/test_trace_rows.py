from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.console.answers.trace_rows import MAX_DEPTH, MAX_ROWS, trace_rows
from rt4chart_collector.store.answers.trace_tree import TraceSpan, TraceTree, _in_order
from tests.rt4chart_collector.store.answers.test_trace_tree import read


def trace_of_parents(parents: list[int]) -> TraceTree:
    """A trace of spans named by their number, the last one at the end."""
    spans = _in_order({str(n): read(str(n), str(parent), n) for n, parent in enumerate(parents)})
    return TraceTree(spans, 0, len(parents), is_cut=False)


@given(st.lists(st.integers(-1, 12), max_size=12))
def test_what_opens_is_closed(parents: list[int]) -> None:
    """After the last row nothing is open, and no row closes what none opened."""
    rows, left = trace_rows(trace_of_parents(parents), "0")

    depth = 0
    for row in rows:
        depth += row.opens - row.closes
        assert depth >= 0
    assert (depth, left, len(rows)) == (0, 0, len(parents))


def test_a_chain_deeper_than_browsers_nest_is_flat_below_a_depth() -> None:
    """Every span is there; the elements are nested no deeper than forty."""
    rows, _ = trace_rows(trace_of_parents(list(range(-1, 500))), "0")

    depth = deepest = 0
    for row in rows:
        depth += row.opens
        deepest = max(deepest, depth)
        depth -= row.closes
    assert (len(rows), deepest, depth) == (501, MAX_DEPTH, 0)


def test_the_answer_is_shown_whatever_its_place() -> None:
    """Of ten thousand spans the first thousand, and the answer with what is above it."""
    trace = trace_of_parents([-1] + [0] * 9_998 + [9_998])

    rows, left = trace_rows(trace, "9999")

    assert [row.span.span_id for row in rows[-2:]] == ["9998", "9999"]
    assert rows[-1].is_answer
    assert (len(rows), left) == (MAX_ROWS + 2, 9_000 - 2)


def test_times_are_told_in_the_unit_that_fits() -> None:
    """From microseconds to minutes."""

    def took(ns: int) -> str:
        span = TraceSpan("s", "", "", "", "", 0, ns, "", "", 0, 0, False, False, None, None)
        (row,), _ = trace_rows(TraceTree((span,), 0, ns, is_cut=False), "s")
        return row.duration

    assert [took(ns) for ns in (0, 65_149, 1_034_567, 2_140_000_000, 90 * 10**9)] == [
        "0 µs",
        "65 µs",
        "1.03 ms",
        "2.14 s",
        "1.5 min",
    ]
