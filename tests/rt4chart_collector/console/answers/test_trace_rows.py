from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.console.answers import answer_page
from rt4chart_collector.console.answers.trace_rows import MAX_DEPTH, MAX_ROWS, trace_rows
from rt4chart_collector.store.answers.trace_tree import TraceSpan, TraceTree, _in_order
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.console.pages.answer_data import PATH, console, stored
from tests.rt4chart_collector.store.answers.test_trace_tree import read


def text_of(html: str) -> str:
    """The page's text without its elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


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


def test_a_bar_is_wide_enough_to_be_seen() -> None:
    """Also that of the shortest span at the end of the trace, which does not leave the picture."""
    rows, _ = trace_rows(trace_of_parents(list(range(-1, 1_000))), "0")

    bars = [tuple(map(float, row.bar)) for row in rows]
    assert all(0 <= left <= 99.3 and 0.7 <= width <= 100 for left, width in bars)
    assert rows[-1].before > 99.3
    assert rows[500].bar[0] == f"{rows[500].before:.2f}"


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


def test_of_a_large_trace_texts_are_read_for_who_asks(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page has the verdict and the first spans, and a link to the page with all there is."""
    stored(client)

    with console(client) as browser:
        usual = browser.get(PATH).text
        monkeypatch.setattr(answer_page, "FIRST_SPANS", 2)
        first, whole = browser.get(PATH).text, browser.get(f"{PATH}?part=whole").text
        document = browser.get(f"{PATH}?format=json").json()

    assert 'class="text passage-text"' in usual
    assert 'class="text passage-text"' not in first
    assert f'href="{PATH}?part=whole">read the texts of the passages</a>' in first
    assert "The first 2 spans are shown" in text_of(first)
    assert "more than 2 spans" in text_of(first)
    assert "were deleted" not in text_of(first)
    assert re.findall(r'id="claim-(\d+)"', first) == re.findall(r'id="claim-(\d+)"', usual)
    assert text_of(whole) == text_of(usual)
    assert any(passage["text"] for passage in document["passages"])
