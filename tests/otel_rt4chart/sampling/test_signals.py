"""What one span says of its trace, and what several say together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart.sampling import Signals, force, signals_of
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.span_view import ChatMessage, OperationKind, SpanView
from otel_rt4chart.spans.reading.reader import read_span
from otel_rt4chart.spans.reading.sdk import record_from_readable
from otel_rt4chart.verify.core.model import Passage

SPAN = SpanRecord("0" * 32, "1" * 16, "answer", 1, 2)

signals = st.builds(
    Signals,
    route=st.sampled_from(["", "a", "b"]),
    forced=st.booleans(),
    is_error=st.booleans(),
    question=st.text("ab", max_size=2),
    top_score=st.none() | st.floats(-1, 1),
    is_disliked=st.booleans(),
)


@given(signals, signals, signals)
def test_merging_may_be_grouped_in_any_way(one: Signals, two: Signals, three: Signals) -> None:
    """Spans are exported in batches: how they were batched does not matter."""
    assert one.merged(two).merged(three) == one.merged(two.merged(three))


@given(signals, signals)
def test_merging_has_no_order_but_for_the_route(one: Signals, two: Signals) -> None:
    """Of two routes the first stays, so that a caller may add a fallback."""
    merged = one.merged(two)

    assert replace(merged, route="") == replace(two.merged(one), route="")
    assert merged.route == (one.route or two.route)


@given(signals)
def test_nothing_known_changes_nothing(one: Signals) -> None:
    """An empty span takes nothing away, and what is known twice is known."""
    assert one.merged(Signals()) == one == Signals().merged(one)
    assert one.merged(one) == one


def test_a_retriever_tells_the_best_score_it_has() -> None:
    """Missing and infinite scores are none."""
    scores = (0.2, None, float("nan"), 0.7, float("inf"))
    found = tuple(Passage(id="p", text="text", score=score) for score in scores)

    assert signals_of(SpanView(SPAN, kind=OperationKind.RETRIEVER, documents=found)) == Signals(
        top_score=0.7
    )
    datastore = SpanView(SPAN, kind=OperationKind.TOOL, documents=found, is_datastore=True)
    assert signals_of(datastore) == Signals(top_score=0.7)
    assert signals_of(SpanView(SPAN, kind=OperationKind.RERANKER, documents=found)) == Signals()


def test_the_question_is_the_user_s() -> None:
    """Of a generation the last message of the user, of a chain its input, of a search nothing."""
    said = (
        ChatMessage("user", "What is free?"),
        ChatMessage("assistant", "All."),
        ChatMessage("user", "Is it?"),
    )

    assert (
        signals_of(SpanView(SPAN, kind=OperationKind.LLM, input="[…]", prompt=said)).question
        == "Is it?"
    )
    assert signals_of(SpanView(SPAN, kind=OperationKind.CHAIN, input="Is it?")).question == "Is it?"
    assert (
        signals_of(SpanView(SPAN, kind=OperationKind.RETRIEVER, input="free trial")).question == ""
    )


def test_a_prompt_that_holds_its_context_does_not_hide_the_question() -> None:
    """The chain ends after the generation; the shorter text is the question alone."""
    prompt = Signals(question="Context: the trial is free.\n\nQuestion: Is it?")

    assert prompt.merged(Signals(question="Is it?")).question == "Is it?"


@pytest.mark.parametrize("written", [True, "true"])
def test_route_force_and_error_are_read(written: bool | str) -> None:
    """A database gives flags back as text."""
    attributes = {"rt4chart.route": "support", "rt4chart.force": written}

    read = signals_of(read_span(replace(SPAN, status="Error", attributes=attributes)))

    assert read == Signals(route="support", forced=True, is_error=True)


def test_force_marks_the_current_span() -> None:
    """And does nothing where there is none."""
    force()
    with TracerProvider().get_tracer("app").start_as_current_span("request") as span:
        force()

    assert signals_of(read_span(record_from_readable(span))) == Signals(forced=True)  # type: ignore[arg-type]
