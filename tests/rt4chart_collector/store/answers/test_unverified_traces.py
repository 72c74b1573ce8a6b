"""The search for answers without a decision, over spans of every convention."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.record import Attributes, SpanEvent
from otel_rt4chart.spans.model.span_view import OperationKind
from rt4chart_collector.store.answers.spans import insert_spans, unverified_traces
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.otel_rt4chart.spans.conventions.golden.all import GOLDEN
from tests.rt4chart_collector.records import NOON, SPAN, VERIFIER, trace_spans, verdict

DAY = 86_400 * 10**9


def test_unverified_traces_pages_through_what_is_undecided(any_client: Client) -> None:
    """A trace comes back until a verdict on its LLM spans is stored; pages follow the id."""
    for number in (1, 2, 3):
        insert_spans(any_client, trace_spans(number))
    old = replace(SPAN, trace_id="f" * 32, start_ns=NOON - 2 * DAY, end_ns=NOON - 2 * DAY)
    insert_spans(any_client, [old])
    spans = trace_spans(2)
    done = [verdict(2), verdict(2)]
    insert_verdicts(
        any_client,
        [
            replace(v, candidate=replace(v.candidate, span_id=s.span_id, start_ns=s.start_ns))
            for v, s in zip(done, spans, strict=False)
        ],
    )

    first = unverified_traces(any_client, VERIFIER, NOON, 1)
    second = unverified_traces(any_client, VERIFIER, NOON, 5, after=first[-1])

    assert (first, second) == ([f"{1:032x}"], [f"{3:032x}"])
    assert len(unverified_traces(any_client, "other", NOON, 5)) == 3


@pytest.mark.parametrize(
    ("attributes", "is_found"),
    [
        ({"openinference.span.kind": "llm"}, True),
        ({"llm.output_messages.0.message.content": "Yes."}, True),
        ({"llm.outputs": "no convention's"}, False),
        ({"gen_ai.operation.name": "chat"}, True),
        ({"gen_ai.operation.name": "invoke_agent"}, False),
        ({"gen_ai.completion.0.content": "Yes."}, True),
        ({"traceloop.span.kind": "task", "gen_ai.completion.0.content": "Yes."}, False),
        ({"langfuse.observation.type": "generation"}, True),
        ({"mlflow.spanType": '"CHAT_MODEL"'}, True),
        ({"ai.operationId": "ai.streamText.doStream"}, True),
        ({"langsmith.span.kind": "llm"}, True),
        ({"ai.observability.span_type": "generation"}, True),
        ({"gen_ai.operation.name": "embeddings"}, False),
        ({"http.route": "/ask"}, False),
        ({"retrieval.documents.0.document.content": "One."}, True),
        (
            {"openinference.span.kind": "UNKNOWN", "llm.output_messages.0.message.content": "x"},
            True,
        ),
        ({"gen_ai.operation.name": "responses", "gen_ai.output.messages": "[]"}, True),
        ({"gen_ai.operation.name": "", "gen_ai.output.messages": "[]"}, True),
        ({"mlflow.spanType": '" LLM "'}, True),
        ({"openinference.span.kind": "EMBEDDING", "retrieval.documents": "[]"}, False),
    ],
)
def test_a_generation_of_any_convention_is_found(
    any_client: Client, attributes: Attributes, is_found: bool
) -> None:
    """So is a retrieval, whose chain may be what answers; other spans are not."""
    insert_spans(any_client, [replace(SPAN, attributes=attributes)])

    found = unverified_traces(any_client, VERIFIER, NOON, 5)

    assert found == ([SPAN.trace_id] if is_found else [])


@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        ("gen_ai.choice", True),
        ("gen_ai.client.inference.operation.details", True),
        ("gen_ai.content.completion", True),
        ("db.query.result", True),
        ("gen_ai.user.message", False),
        ("exception", False),
    ],
)
def test_what_its_events_alone_tell_is_found(any_client: Client, name: str, is_found: bool) -> None:
    """Older versions of GenAI's conventions wrote messages as span events."""
    event = SpanEvent(name, NOON, {"gen_ai.completion": "Yes.", "content": "Yes."})
    insert_spans(any_client, [replace(SPAN, attributes={}, events=(event,))])

    found = unverified_traces(any_client, VERIFIER, NOON, 5)

    assert found == ([SPAN.trace_id] if is_found else [])


def test_every_golden_answer_and_retrieval_is_found(any_client: Client) -> None:
    """Whatever the reader takes for one, but where the span's name tells it."""
    told = [
        one
        for one in GOLDEN
        if one.read.get("kind")
        in (OperationKind.LLM, OperationKind.RETRIEVER, OperationKind.RERANKER)
        and one.span == "span"
    ]
    ids = {one.name: f"{number:032x}" for number, one in enumerate(told, 1)}
    insert_spans(
        any_client,
        [replace(one.record, trace_id=ids[one.name], start_ns=NOON, end_ns=NOON) for one in told],
    )

    found = set(unverified_traces(any_client, VERIFIER, NOON, 1_000))

    assert [one.name for one in told if ids[one.name] not in found] == []


def test_a_retrieval_with_a_decision_in_its_trace_is_done(any_client: Client) -> None:
    """The chain that answered is another span than any that tells of an answer."""
    done = verdict(7)
    retriever = replace(
        SPAN,
        trace_id=done.candidate.trace_id,
        attributes={"openinference.span.kind": "RETRIEVER"},
    )
    insert_spans(any_client, [retriever])
    insert_verdicts(any_client, [done])

    assert unverified_traces(any_client, VERIFIER, NOON, 5) == []
    assert unverified_traces(any_client, "other", NOON, 5) == [retriever.trace_id]


def test_our_own_spans_are_not_found(any_client: Client) -> None:
    """A carrier holds a verdict, not an answer."""
    insert_spans(any_client, [replace(SPAN, scope_name="otel_rt4chart")])

    assert unverified_traces(any_client, VERIFIER, NOON, 5) == []
