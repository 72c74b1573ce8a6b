"""OpenInference spans: what one of them says, in neutral terms.

Source: OpenInference spec/semantic_conventions.md. Lists are flattened and zero-based there;
structured values and JSON text are read as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_rt4chart import semconv
from otel_rt4chart.spans import values
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.verify.model import Passage

# The SDK evicts a span's oldest attributes first, its kind among them: the keys then tell it.
KIND_BY_PREFIX = (
    (semconv.RETRIEVAL_DOCUMENTS + ".", "RETRIEVER"),
    ("reranker.", "RERANKER"),
    (semconv.LLM_OUTPUT_MESSAGES + ".", "LLM"),
    (semconv.LLM_INPUT_MESSAGES + ".", "LLM"),
)
DOCUMENTS = {
    "RETRIEVER": semconv.RETRIEVAL_DOCUMENTS,
    "RERANKER": semconv.RERANKER_OUTPUT_DOCUMENTS,
}


@dataclass(frozen=True, slots=True)
class View:
    """One span as the assembly of exchanges sees it; text that is missing is the empty string.

    `is_redacted` is True where content was replaced by OpenInference's placeholder, `is_truncated`
    where the SDK evicted attributes, so that what is missing may have been there.
    """

    span: SpanRecord
    kind: str
    input: str
    output: str
    user_message: str
    documents: tuple[Passage, ...]
    model: str
    prompt_version: str
    is_redacted: bool
    is_truncated: bool


def view(span: SpanRecord) -> View:
    """Read one span; a span of no OpenInference kind has the empty kind."""
    attributes = span.attributes
    kind = kind_of(span)
    documents = _documents(span, DOCUMENTS.get(kind, ""))
    return View(
        span=span,
        kind=kind,
        input=_shown(attributes.get(semconv.INPUT_VALUE)),
        output=_answer(span) if kind == "LLM" else _shown(attributes.get(semconv.OUTPUT_VALUE)),
        user_message=_last_user_message(span),
        documents=tuple(document for document in documents if document.text),
        model=values.text(attributes.get(semconv.LLM_MODEL_NAME)),
        prompt_version=values.text(attributes.get(semconv.LLM_PROMPT_TEMPLATE_VERSION)),
        is_redacted=any(value == semconv.REDACTED for value in attributes.values()),
        is_truncated=span.dropped_attributes > 0,
    )


def kind_of(span: SpanRecord) -> str:
    """The OpenInference kind, from its attribute or else from the keys that are left."""
    kind = span.attributes.get(semconv.SPAN_KIND)
    if isinstance(kind, str) and kind:
        return kind.upper()
    for prefix, inferred in KIND_BY_PREFIX:
        if any(key.startswith(prefix) for key in span.attributes):
            return inferred
    return ""


def _shown(value: object) -> str:
    text = values.text(value)
    return "" if text == semconv.REDACTED else text


def _documents(span: SpanRecord, prefix: str) -> list[Passage]:
    return [_passage(item) for item in values.items(span.attributes, prefix)] if prefix else []


def _passage(item: Mapping[str, Any]) -> Passage:
    """A document; one without an id gets one from its content, the same wherever it occurs."""
    content = _shown(item.get(semconv.DOCUMENT_CONTENT))
    name = values.text(item.get(semconv.DOCUMENT_ID))
    metadata = values.structured(item.get(semconv.DOCUMENT_METADATA))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return Passage(
        id=name or f"sha256:{digest[:12]}",
        text=content,
        score=values.number(item.get(semconv.DOCUMENT_SCORE)),
        metadata=metadata if isinstance(metadata, Mapping) else {},
    )


def _answer(span: SpanRecord) -> str:
    """The generated text: output messages, else `output.value` as text or as messages in JSON."""
    messages = values.items(span.attributes, semconv.LLM_OUTPUT_MESSAGES)
    said = "\n".join(filter(None, map(_message_text, messages)))
    if said:
        return said
    value = span.attributes.get(semconv.OUTPUT_VALUE)
    if _calls_tools(messages):
        return ""
    return _text_in_json(value) or _shown(value)


def _calls_tools(messages: list[dict[str, Any]]) -> bool:
    return any(key.startswith("message.tool_calls") for one in messages for key in one)


def _text_in_json(value: object) -> str:
    """The text of a JSON output: LangChain's generations, or a message's content."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return ""
    found = values.structured(value)
    if isinstance(found, Mapping) and isinstance(found.get("generations"), list):
        nested = [one for group in found["generations"] if isinstance(group, list) for one in group]
        texts = (one.get("text") for one in nested if isinstance(one, Mapping))
        return "\n".join(text for text in texts if isinstance(text, str) and text)
    content = found.get("content") if isinstance(found, Mapping) else None
    return content if isinstance(content, str) else ""


def _message_text(message: Mapping[str, Any]) -> str:
    """A message's content, plain or in parts; reasoning is not said to the user."""
    content = message.get(semconv.MESSAGE_CONTENT)
    if isinstance(content, str):
        return _shown(content)
    parts = values.items(message, semconv.MESSAGE_CONTENTS)
    return "".join(
        _shown(part.get(semconv.MESSAGE_CONTENT_TEXT))
        for part in parts
        if part.get(semconv.MESSAGE_CONTENT_TYPE, "text") == "text"
    )


def _last_user_message(span: SpanRecord) -> str:
    messages = values.items(span.attributes, semconv.LLM_INPUT_MESSAGES)
    said = [_message_text(one) for one in messages if one.get(semconv.MESSAGE_ROLE) == "user"]
    return said[-1] if said else ""
