from __future__ import annotations

import pytest

from otel_rt4chart.spans.graph.stage_name import plain_name, stage_name
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView


def view(name: str, kind: OperationKind = OperationKind.LLM) -> SpanView:
    """A span with this name."""
    return SpanView(SpanRecord("a" * 32, "b" * 16, name, 0, 1), kind)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("summarise", "summarise"),
        ("summarise chunk 3", "summarise chunk"),
        ("summarise chunk 3 of 12", "summarise chunk"),
        ("summarize_doc_12", "summarize_doc"),
        ("step-3f2a81bc9d", "step"),
        ("map (7)", "map"),
        ("merge #2", "merge"),
        ("task 0b9f6a52-5a51-4f0e-9e52-3a8f1d2b7c11", "task"),
        ("page 4 summary", "page summary"),
        ("execute_task rerank", "rerank"),
        ("Engine.aquery", "Engine.query"),
        ("gpt-4o", "gpt-4o"),
        ("42", "42"),
        ("", ""),
    ],
)
def test_a_name_loses_what_calls_differ_in(name: str, plain: str) -> None:
    """Numbers, ids and the prefix of an operation go; a name that is nothing else stays."""
    assert plain_name(name) == plain


@pytest.mark.parametrize("client", ["ChatOpenAI", "chat gpt-4o", "OpenAILike.achat", "openai.chat"])
def test_a_call_of_a_model_has_the_name_of_the_step_around_it(client: str) -> None:
    """The package's name for every call says nothing; without a step around it is to generate."""
    sequence = view("RunnableSequence", OperationKind.CHAIN)
    step = view("summarise 4", OperationKind.CHAIN)

    assert stage_name(view(client), [sequence, step]) == "summarise"
    assert stage_name(view(client), [sequence]) == "generate"


def test_other_operations_have_their_own_names() -> None:
    """A retrieval is not named after the step around it."""
    assert stage_name(view("faq 2", OperationKind.RETRIEVER), [view("around")]) == "faq"
    assert stage_name(view("", OperationKind.RETRIEVER), [view("around")]) == "retrieve"
