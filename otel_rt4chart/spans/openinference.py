"""OpenInference spans: what one of them says, in neutral terms.

Source: OpenInference spec/semantic_conventions.md. Lists are flattened and zero-based there;
structured values and JSON text are read as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart import semconv
from otel_rt4chart.spans import values
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.verify.model import Passage

# The SDK evicts a span's oldest attributes first, its kind among them: the keys then tell it.
KIND_BY_PREFIX = (
    (semconv.RETRIEVAL_DOCUMENTS, "RETRIEVER"),
    ("reranker.", "RERANKER"),
    (semconv.LLM_OUTPUT_MESSAGES, "LLM"),
    (semconv.LLM_INPUT_MESSAGES, "LLM"),
)
# Where the text stands in the JSON that frameworks write as a whole input or output.
INPUT_KEYS = ("question", "query", "input", "messages", "content", "text")
OUTPUT_KEYS = ("generations", "choices", "messages", "message", "kwargs", "content", "text")
MAX_DEPTH = 12
CONTENT_KEYS = (semconv.DOCUMENT_CONTENT, "content", "page_content", "text")
DOCUMENTS = {
    "RETRIEVER": semconv.RETRIEVAL_DOCUMENTS,
    "RERANKER": semconv.RERANKER_OUTPUT_DOCUMENTS,
}


@dataclass(frozen=True, slots=True)
class View:
    """One span as the assembly of exchanges sees it; text that is missing is the empty string.

    `is_redacted` is True where OpenInference's placeholder stands for documents or the output,
    `is_truncated` where the SDK evicted attributes or cut the documents' JSON, so that what is
    missing may have been there,
    `calls_tools_only` for a generation that asked for a tool and told the user nothing.
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
    calls_tools_only: bool


def view(span: SpanRecord) -> View:
    """Read one span; a span of no OpenInference kind has the empty kind."""
    attributes = span.attributes
    kind = kind_of(span)
    documents = _documents(span, DOCUMENTS.get(kind, ""))
    output = _answer(span) if kind == "LLM" else _shown(attributes.get(semconv.OUTPUT_VALUE))
    return View(
        span=span,
        kind=kind,
        input=_spoken(attributes.get(semconv.INPUT_VALUE), INPUT_KEYS),
        output=output,
        user_message=_last_user_message(span),
        documents=tuple(document for document in documents if document.text),
        model=values.text(attributes.get(semconv.LLM_MODEL_NAME)),
        prompt_version=values.text(attributes.get(semconv.LLM_PROMPT_TEMPLATE_VERSION)),
        is_redacted=_is_hidden(span, DOCUMENTS.get(kind, semconv.LLM_OUTPUT_MESSAGES)),
        is_truncated=span.dropped_attributes > 0
        or _is_broken(attributes.get(DOCUMENTS.get(kind, ""))),
        calls_tools_only=not output and _calls_tools(_output_messages(span)),
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
    if not prefix:
        return []
    items = values.items(span.attributes, prefix)
    return [_passage(item) for item in items or _texts(span.attributes.get(prefix))]


def _texts(value: object) -> list[dict[str, Any]]:
    """Documents that are texts and no more: a list of them, or one."""
    if not value or _is_broken(value):
        return []
    found = values.structured(value)
    texts = found if isinstance(found, list | tuple) else [value]
    return [{semconv.DOCUMENT_CONTENT: text} for text in texts if isinstance(text, str)]


def _passage(item: Mapping[str, Any]) -> Passage:
    """A document; one without an id gets one from its content, the same wherever it occurs."""
    content = _shown(_field(item, *CONTENT_KEYS))
    name = values.text(_field(item, semconv.DOCUMENT_ID, "id"))
    metadata = values.structured(_field(item, semconv.DOCUMENT_METADATA, "metadata"))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return Passage(
        id=name or f"sha256:{digest[:12]}",
        text=content,
        score=values.number(_field(item, semconv.DOCUMENT_SCORE, "score")),
        metadata=metadata if isinstance(metadata, Mapping) else {},
    )


def _is_broken(value: object) -> bool:
    """True for JSON that ends early: a limit on the length of values cuts it without a word."""
    looks = isinstance(value, str) and value.lstrip().startswith(("{", "["))
    return looks and values.structured(value) is None


def _field(item: Mapping[str, Any], *names: str) -> object:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _is_hidden(span: SpanRecord, prefix: str) -> bool:
    """True where the placeholder stands among the documents or messages, or for all output."""
    items = values.items(span.attributes, prefix)
    if not items:
        return span.attributes.get(semconv.OUTPUT_VALUE) == semconv.REDACTED
    return any(value == semconv.REDACTED for item in items for value in item.values())


def _answer(span: SpanRecord) -> str:
    """The generated text: output messages, else `output.value` as text or as messages in JSON."""
    messages = _output_messages(span)
    said = "\n".join(filter(None, map(_message_text, messages)))
    if said or _calls_tools(messages):
        return said
    return _spoken(span.attributes.get(semconv.OUTPUT_VALUE), OUTPUT_KEYS)


def _output_messages(span: SpanRecord) -> list[dict[str, Any]]:
    return values.items(span.attributes, semconv.LLM_OUTPUT_MESSAGES)


def _calls_tools(messages: list[dict[str, Any]]) -> bool:
    return any(key.startswith("message.tool_calls") for one in messages for key in one)


def _spoken(value: object, keys: Sequence[str]) -> str:
    """A whole input or output as text; JSON without a known key stays as it is."""
    found = values.structured(value)
    inner = _text_in(found, keys) if isinstance(found, Mapping | list | tuple) else ""
    return _shown(inner or value)


def _text_in(value: object, keys: Sequence[str], depth: int = 0) -> str:
    """The text under the first known key; of a conversation's messages the last one's."""
    if isinstance(value, str) or depth > MAX_DEPTH:
        return value if isinstance(value, str) else ""
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, (_text_in(one, keys, depth + 1) for one in value)))
    if not isinstance(value, Mapping):
        return ""
    for key in keys:
        inner = value.get(key)
        if key == "messages" and isinstance(inner, list | tuple):
            inner = inner[-1:]
        if text := _text_in(inner, keys, depth + 1):
            return text
    return ""


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
