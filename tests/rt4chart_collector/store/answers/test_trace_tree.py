from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.semconv import SCOPE_NAME
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.store.answers.spans import insert_spans, span_count, spans_of
from rt4chart_collector.store.answers.trace_tree import _in_order, build_tree
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND, SPAN

TRACE = SPAN.trace_id
ROOT = replace(
    SPAN,
    span_id="r" * 16,
    parent_span_id="",
    name="POST /ask",
    attributes={"openinference.span.kind": "CHAIN"},
    end_ns=NOON + 3 * SECOND,
)


def read(name: str, parent: str, start: int = 0) -> SpanRecord:
    """A span of which nothing else is known."""
    return SpanRecord("", name, name, start, start + 1, parent_span_id=parent)


def test_a_trace_is_a_tree_in_the_order_of_time(client: Client) -> None:
    """Kinds, tokens and times, without the texts; what is ours is marked."""
    tokens = {"llm.token_count.prompt": 12, "llm.token_count.completion": 3}
    answer = replace(SPAN, parent_span_id=ROOT.span_id, attributes={**SPAN.attributes, **tokens})
    ours = replace(SPAN, span_id="d" * 16, parent_span_id=SPAN.span_id, scope_name=SCOPE_NAME)
    insert_spans(client, [ours, answer, ROOT, answer])

    found = build_tree(spans_of(client, [TRACE]))

    assert found is not None
    assert [(one.name, one.kind, one.depth, one.children) for one in found.spans] == [
        ("POST /ask", "CHAIN", 0, 1),
        ("answer", "LLM", 1, 1),
        ("answer", "LLM", 2, 0),
    ]
    assert (found.spans[1].input_tokens, found.spans[1].output_tokens) == (12, 3)
    assert [one.is_ours for one in found.spans] == [False, False, True]
    assert (found.start_ns, found.end_ns, found.is_cut) == (NOON, NOON + 3 * SECOND, False)
    assert found.spans[1].status == "Error"


def test_a_verdict_is_shown_in_its_trace_but_is_no_part_of_its_time(client: Client) -> None:
    """It may be days later, and is not counted among the application's spans."""
    late = NOON + 86_400 * SECOND
    ours = replace(
        SPAN,
        span_id="d" * 16,
        parent_span_id=SPAN.span_id,
        scope_name=SCOPE_NAME,
        start_ns=late,
        end_ns=late + SECOND,
    )
    insert_spans(client, [ROOT, replace(SPAN, parent_span_id=ROOT.span_id), ours])

    found = build_tree(spans_of(client, [TRACE]))

    assert found is not None
    assert [(one.depth, one.is_ours) for one in found.spans] == [(0, False), (1, False), (2, True)]
    assert (found.start_ns, found.end_ns) == (NOON, NOON + 3 * SECOND)
    assert (found.span_count, span_count(client, TRACE)) == (2, 2)


def test_a_trace_of_which_only_verdicts_are_left_is_none(client: Client) -> None:
    """The application's spans have expired: a verdict may be younger than they."""
    insert_spans(client, [replace(SPAN, scope_name=SCOPE_NAME)])

    assert build_tree(spans_of(client, [TRACE])) is None
    assert span_count(client, TRACE) == 0


def test_a_span_whose_parent_is_missing_stands_as_a_root(client: Client) -> None:
    """Nothing is hidden because something else did not come."""
    insert_spans(client, [SPAN])

    found = build_tree(spans_of(client, [TRACE]))

    assert found is not None
    assert [(one.depth, one.is_orphan) for one in found.spans] == [(0, True)]


def test_a_trace_that_is_gone_is_none(client: Client) -> None:
    """The spans are kept for a time."""
    assert build_tree(spans_of(client, ["f" * 32])) is None


def test_more_spans_than_the_limit_are_cut(client: Client) -> None:
    """The first ones by time are read, and it says so."""
    insert_spans(client, [replace(SPAN, span_id=f"{n:016x}", start_ns=NOON + n) for n in range(5)])

    found = build_tree(spans_of(client, [TRACE]), limit=3)

    assert found is not None
    assert [one.span_id for one in found.spans] == [f"{n:016x}" for n in range(3)]
    assert found.is_cut


def test_a_chain_of_ten_thousand_spans_needs_no_recursion() -> None:
    """Depth is bounded by nothing but the number of spans."""
    chain = {str(n): read(str(n), str(n - 1)) for n in range(10_000)}

    found = _in_order(chain)

    assert [one.depth for one in found] == list(range(10_000))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 8), max_size=8))
def test_every_span_is_there_once_whatever_its_parent(parents: list[int]) -> None:
    """Loops, itself as the parent, parents that are not there."""
    spans = {str(n): read(str(n), str(parent)) for n, parent in enumerate(parents)}

    found = _in_order(spans)

    assert sorted(one.span_id for one in found) == sorted(spans)
    assert all(later.depth <= earlier.depth + 1 for earlier, later in pairwise(found))
