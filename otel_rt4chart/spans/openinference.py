"""The reader of OpenInference spans (spec/semantic_conventions.md): a record in, a view out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from otel_rt4chart import semconv as names
from otel_rt4chart.spans.lists import decoded_json, field, flattened, sequence, whole
from otel_rt4chart.spans.record import Attributes, SpanRecord
from otel_rt4chart.spans.view import Message, SpanView
from otel_rt4chart.verify.model import Passage

# A span over the attribute limit loses its oldest attributes, the kind often among them.
_KIND_BY_PREFIX = (
    ("reranker.", "RERANKER"),
    (names.RETRIEVAL_DOCUMENTS, "RETRIEVER"),
    (names.LLM_OUTPUT_MESSAGES, "LLM"),
    (names.LLM_INPUT_MESSAGES, "LLM"),
    (names.LLM_CHOICES, "LLM"),
    ("embedding.", "EMBEDDING"),
)
_DOCUMENTS_BY_KIND = {
    "RETRIEVER": names.RETRIEVAL_DOCUMENTS,
    "RERANKER": names.RERANKER_OUTPUT_DOCUMENTS,
}
_MODEL = (names.LLM_MODEL_NAME, "llm.response.model_name", "llm.request.model_name")
# Where the text lies in the JSON that frameworks write as a whole input or output.
_TEXT_KEYS = ("generations", "choices", "messages", "message", "question", "query", "input")
_TEXT_KEYS += ("output", "answer", "result", "response", "content", "text", "kwargs", "data")
_LAST_ONLY = frozenset({"messages"})
_SKIPPED_PARTS = frozenset({"reasoning", "thinking", "tool_use", "image", "audio"})


def view_of(span: SpanRecord) -> SpanView:
    """What the span says; the empty view for a span that is not OpenInference's."""
    kind = kind_of(span)
    if not kind:
        return SpanView()
    attributes = span.attributes
    documents, documents_redacted, documents_cut = _documents(span, kind)
    output, output_redacted, output_cut = _output(span, kind)
    return SpanView(
        kind=kind,
        input_text=_plain(text_of(_shown(attributes.get(names.INPUT_VALUE)))),
        output_text=output,
        documents=documents,
        input_messages=_messages(attributes, names.LLM_INPUT_MESSAGES),
        output_messages=_messages(attributes, names.LLM_OUTPUT_MESSAGES),
        model=next((str(attributes[key]) for key in _MODEL if attributes.get(key)), ""),
        prompt_version=str(attributes.get(names.LLM_PROMPT_TEMPLATE_VERSION, "")),
        is_redacted=documents_redacted or output_redacted,
        is_truncated=documents_cut or output_cut,
    )


def kind_of(span: SpanRecord) -> str:
    """The declared kind, else the kind that the remaining attributes or the scope give away."""
    declared = span.attributes.get(names.SPAN_KIND)
    if declared:
        return str(declared).upper()
    for prefix, kind in _KIND_BY_PREFIX:
        if any(key.startswith(prefix) for key in span.attributes):
            return kind
    ours = (names.OPENINFERENCE_SCOPE, names.HANDMADE_SCOPE)
    return "UNKNOWN" if span.scope_name.startswith(ours) else ""


def text_of(value: object) -> str:
    """The human-readable text of a whole input or output: plain, or in JSON of a known shape."""
    decoded = decoded_json(value)
    return _text_in(decoded) or (value if isinstance(value, str) else "")


def _text_in(value: object, depth: int = 0) -> str:
    """The text at the first known key; a list gives its texts, one below the other."""
    if isinstance(value, str) or depth > 12:
        return value if isinstance(value, str) else ""
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, (_text_in(item, depth + 1) for item in value)))
    if not isinstance(value, Mapping) or value.get("type") in _SKIPPED_PARTS:
        return ""
    for key in _TEXT_KEYS:
        below = decoded_json(value.get(key))
        if key in _LAST_ONLY and isinstance(below, list) and below:
            below = below[-1]
        if text := _text_in(below, depth + 1):
            return text
    return ""


def _documents(span: SpanRecord, kind: str) -> tuple[tuple[Passage, ...], bool, bool]:
    """The documents of a retriever or reranker; whether some are hidden, or may be missing."""
    prefix = _DOCUMENTS_BY_KIND.get(kind)
    if prefix is None:
        return (), False, False
    items = flattened(span.attributes, prefix)
    texts = [field(item, "document", *_CONTENT) for item in items.values()]
    has_gap = list(items) != list(range(len(items))) or (any(texts) and None in texts)
    is_cut = span.dropped_attributes > 0 or has_gap
    if items and not is_cut:
        return *_passages(items.values()), False
    copy = _whole_documents(span.attributes, prefix)
    if copy:
        return *_passages(copy), False
    return *_passages(items.values()), is_cut


_CONTENT = ("content", "page_content", "text")


def _whole_documents(attributes: Attributes, prefix: str) -> tuple[object, ...]:
    """The documents where one attribute holds them all: none can be missing from it."""
    if prefix in attributes:
        return whole(attributes[prefix])
    output = decoded_json(attributes.get(names.OUTPUT_VALUE))
    found = output.get("documents") if isinstance(output, Mapping) else output
    items = sequence(found)
    return tuple(item for item in items if isinstance(item, Mapping | str))


def _passages(items: Iterable[object]) -> tuple[tuple[Passage, ...], bool]:
    passages, is_redacted = [], False
    for item in items:
        content = item if isinstance(item, str) else field(item, "document", *_CONTENT)
        text = content if isinstance(content, str) else ""
        is_redacted |= text == names.REDACTED
        if text and text != names.REDACTED:
            passages.append(_passage(item, text))
    return tuple(passages), is_redacted


def _passage(item: object, text: str) -> Passage:
    """A passage; one without an id is named by a hash of its text, the same in every trace."""
    identity = field(item, "document", "id")
    metadata = decoded_json(field(item, "document", "metadata"))
    return Passage(
        id=str(identity) if identity is not None else content_id(text),
        text=text,
        score=_number(field(item, "document", "score")),
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
    )


def content_id(text: str) -> str:
    """A short name for a text that has none."""
    return "text-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _output(span: SpanRecord, kind: str) -> tuple[str, bool, bool]:
    """The output text; whether it is hidden, or may be missing a part.

    A generation's text is what its messages tell the reader; the whole `output.value` is the
    next best, and for other kinds the only one.
    """
    attributes = span.attributes
    value = attributes.get(names.OUTPUT_VALUE)
    is_hidden = value == names.REDACTED
    if kind != "LLM":
        return _plain(text_of(_shown(value))), False, False
    text, is_cut = _message_text(attributes)
    text = text or _choice_text(attributes)
    if names.REDACTED in text.splitlines():
        return "", True, False
    if text and not (is_cut and span.dropped_attributes):
        return text, False, False
    if value and not is_hidden and not _messages(attributes, names.LLM_OUTPUT_MESSAGES):
        return _completion(attributes), False, False
    return text, is_hidden and not text, span.dropped_attributes > 0


def _completion(attributes: Attributes) -> str:
    """The text of `output.value`, which a mime type may say is JSON or is no JSON."""
    value = attributes[names.OUTPUT_VALUE]
    if attributes.get(names.OUTPUT_MIME_TYPE) == "text/plain":
        return str(value)
    return _plain(text_of(value))


def _message_text(attributes: Attributes) -> tuple[str, bool]:
    """The output messages' text, and whether an attribute limit could have cut it unseen."""
    items = flattened(attributes, names.LLM_OUTPUT_MESSAGES)
    messages = _messages(attributes, names.LLM_OUTPUT_MESSAGES)
    in_parts = any(field(item, "message", "contents") for item in items.values())
    is_cut = in_parts or list(items) != list(range(len(items)))
    return "\n".join(message.text for message in messages if message.text), is_cut


def _choice_text(attributes: Attributes) -> str:
    items = flattened(attributes, names.LLM_CHOICES).values()
    return "\n".join(_plain(field(item, "completion", "text")) for item in items)


def _messages(attributes: Attributes, prefix: str) -> tuple[Message, ...]:
    items = flattened(attributes, prefix).values() or whole(attributes.get(prefix))
    return tuple(_message(item) for item in items)


def _message(item: object) -> Message:
    if isinstance(item, str):
        return Message("", item)
    content = field(item, "message", "content")
    parts = field(item, "message", "contents", "parts")
    if not isinstance(content, str):
        parts, content = parts or content, ""
    return Message(
        role=_plain(field(item, "message", "role")),
        text=content or "\n".join(filter(None, map(_part_text, sequence(parts)))),
        has_tool_calls=bool(field(item, "message", "tool_calls")),
    )


def _part_text(part: object) -> str:
    """The text of one part of a message, unless it is reasoning or no text at all."""
    if isinstance(part, str):
        return part
    kind = field(part, "message_content", "type")
    return _plain(field(part, "message_content", "text")) if kind in (None, "text") else ""


def _shown(value: object) -> object:
    return "" if value == names.REDACTED else value


def _plain(value: object) -> str:
    """Text as it is, nothing for none, JSON for what is neither."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def _number(value: object) -> float | None:
    """A number, also in text, since a database may hand every attribute out as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if number == number else None
