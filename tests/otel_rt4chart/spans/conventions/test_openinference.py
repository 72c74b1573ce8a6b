from __future__ import annotations

import json

import pytest
from openinference.semconv.trace import (
    DocumentAttributes,
    MessageAttributes,
    OpenInferenceSpanKindValues,
    RerankerAttributes,
    SpanAttributes,
)

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model.record import Attributes, AttributeValue, SpanRecord
from otel_rt4chart.spans.reading.reader import read_span

ANSWER = f"{semconv.LLM_OUTPUT_MESSAGES}.0."


def span(attributes: Attributes, *, dropped: int = 0) -> SpanRecord:
    """A finished span with these attributes."""
    return SpanRecord(
        "a" * 32, "b" * 16, "s", 1, 2, attributes=attributes, dropped_attributes=dropped
    )


def test_our_names_are_openinferences_own() -> None:
    """Each constant equals the one in the convention's package."""
    assert semconv.SPAN_KIND == SpanAttributes.OPENINFERENCE_SPAN_KIND
    assert semconv.INPUT_VALUE == SpanAttributes.INPUT_VALUE
    assert semconv.OUTPUT_VALUE == SpanAttributes.OUTPUT_VALUE
    assert semconv.RETRIEVAL_DOCUMENTS == SpanAttributes.RETRIEVAL_DOCUMENTS
    assert semconv.RERANKER_OUTPUT_DOCUMENTS == RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS
    assert semconv.LLM_INPUT_MESSAGES == SpanAttributes.LLM_INPUT_MESSAGES
    assert semconv.LLM_OUTPUT_MESSAGES == SpanAttributes.LLM_OUTPUT_MESSAGES
    assert semconv.LLM_MODEL_NAME == SpanAttributes.LLM_MODEL_NAME
    assert semconv.METADATA == SpanAttributes.METADATA
    assert semconv.DOCUMENT_ID == DocumentAttributes.DOCUMENT_ID
    assert semconv.DOCUMENT_CONTENT == DocumentAttributes.DOCUMENT_CONTENT
    assert semconv.DOCUMENT_SCORE == DocumentAttributes.DOCUMENT_SCORE
    assert semconv.DOCUMENT_METADATA == DocumentAttributes.DOCUMENT_METADATA
    assert semconv.MESSAGE_ROLE == MessageAttributes.MESSAGE_ROLE
    assert semconv.MESSAGE_CONTENT == MessageAttributes.MESSAGE_CONTENT
    assert OpenInferenceSpanKindValues.EVALUATOR.value == "EVALUATOR"


DOCUMENTS = [
    {"document.content": "One.", "document.id": "a", "document.score": 0.5},
    {"document.content": "Two.", "document.id": 7, "document.metadata": '{"page": 2}'},
]
FLAT = {f"retrieval.documents.{n}.{k}": v for n, d in enumerate(DOCUMENTS) for k, v in d.items()}
NESTED = [
    {"document": {"content": "One.", "id": "a", "score": 0.5}},
    {"document": {"content": "Two.", "id": 7, "metadata": {"page": 2}}},
]


@pytest.mark.parametrize(
    "attributes",
    [
        FLAT,
        {key: str(value) for key, value in FLAT.items()},
        {"retrieval.documents": json.dumps(DOCUMENTS)},
        {"retrieval.documents": json.dumps(NESTED)},
        {"retrieval.documents": tuple(NESTED)},
    ],
    ids=["flattened", "rows of a database", "json", "nested json", "structured"],
)
def test_documents_are_read_in_every_form(attributes: Attributes) -> None:
    """Flattened keys, text rows, JSON and structured values give the same passages."""
    documents = read_span(span({semconv.SPAN_KIND: "RETRIEVER", **attributes})).documents

    assert [(d.id, d.text, d.score) for d in documents] == [("a", "One.", 0.5), ("7", "Two.", None)]
    assert documents[1].metadata == {"page": 2}


@pytest.mark.parametrize(
    "value",
    [
        ({"content": "One."}, {"page_content": "Two."}),
        '[{"id": null, "content": "One."}, {"text": "Two."}]',
        '["One.", "Two."]',
        ("One.", "Two."),
    ],
)
def test_documents_without_the_conventions_wrapper_are_read(value: AttributeValue) -> None:
    """As frameworks serialise them themselves, or as bare texts."""
    attributes = {semconv.SPAN_KIND: "RETRIEVER", "retrieval.documents": value}

    assert [document.text for document in read_span(span(attributes)).documents] == ["One.", "Two."]


def test_plain_text_is_one_document_and_cut_json_is_none() -> None:
    """A limit on the length of values leaves JSON that ends early: that is truncated."""
    plain, cut = (
        read_span(span({semconv.SPAN_KIND: "RETRIEVER", "retrieval.documents": value}))
        for value in ("Trial: 14 days.", '[{"document.content": "Trial: 14 d')
    )

    assert ([d.text for d in plain.documents], plain.is_truncated) == (["Trial: 14 days."], False)
    assert (cut.documents, cut.is_truncated) == ((), True)


def test_a_document_without_id_gets_one_from_its_content() -> None:
    """The same text has the same id wherever it is retrieved; another text has another."""
    one, again, other = (
        read_span(
            span({semconv.SPAN_KIND: "RETRIEVER", "retrieval.documents.0.document.content": text})
        )
        .documents[0]
        .id
        for text in ("One.", "One.", "Two.")
    )

    assert one == again != other


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({ANSWER + "message.content": "Said."}, "Said."),
        (
            {
                ANSWER + "message.contents.0.message_content.type": "reasoning",
                ANSWER + "message.contents.0.message_content.text": "Hm.",
                ANSWER + "message.contents.1.message_content.type": "text",
                ANSWER + "message.contents.1.message_content.text": "Said.",
            },
            "Said.",
        ),
        ({"output.value": "Said."}, "Said."),
        ({"output.value": json.dumps({"generations": [[{"text": "Said."}]]})}, "Said."),
        ({"output.value": json.dumps({"role": "assistant", "content": "Said."})}, "Said."),
        ({"output.value": json.dumps({"choices": [{"message": {"content": "Said."}}]})}, "Said."),
        (
            {"output.value": json.dumps({"messages": [{"content": "x"}, {"content": "Said."}]})},
            "Said.",
        ),
        ({"output.value": json.dumps({"verdict": "yes"})}, '{"verdict": "yes"}'),
        ({"output.value": '{"generations": [[{"text": "cut'}, ""),
        ({ANSWER + "message.content": "__REDACTED__"}, ""),
        ({ANSWER + "message.tool_calls.0.tool_call.id": "x", "output.value": "{}"}, ""),
        ({}, ""),
    ],
)
def test_the_answer_is_what_was_said_to_the_user(attributes: Attributes, text: str) -> None:
    """Messages first, then the output value; no reasoning, no tool call, no placeholder."""
    assert read_span(span({semconv.SPAN_KIND: "LLM", **attributes})).output == text


def test_an_evicted_kind_is_told_by_the_keys_that_are_left() -> None:
    """The SDK drops the oldest attributes first, the kind among them."""
    found = read_span(span({"retrieval.documents.9.document.content": "Ten."}, dropped=30))

    assert (found.kind, found.is_truncated) == ("RETRIEVER", True)


def test_redacted_documents_are_missing_not_text() -> None:
    """The placeholder is never verified against."""
    found = read_span(
        span(
            {
                semconv.SPAN_KIND: "RETRIEVER",
                "retrieval.documents.0.document.content": "__REDACTED__",
            }
        )
    )

    assert (found.documents, found.is_redacted) == ((), True)
