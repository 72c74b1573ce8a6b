"""Finds the relevant text in a whole input or output, which frameworks write plain or as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otel_rt4chart.spans.model.span_view import ChatMessage
from otel_rt4chart.spans.model.values import as_list
from otel_rt4chart.spans.reading.messages import is_message, read_messages, text_unless_placeholder

MAX_DEPTH = 12
INPUT_KEYS = (
    "question", "query", "user_input", "input", "inputs", "messages", "message", "prompt",
    "args", "kwargs", "content", "text",
)  # fmt: skip
OUTPUT_KEYS = (
    "generations", "choices", "candidates", "messages", "message", "kwargs", "answer", "output",
    "outputs", "result", "response", "completion", "content", "text",
)  # fmt: skip


def input_text(value: object, original: str) -> str:
    """The question: of a conversation the last user message, of a call its first argument.

    `original` is the unparsed value, which is returned if no known key is found.
    """
    found = _find_text(value, INPUT_KEYS, 0)
    if not found and isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        found = only if isinstance(only, str) else ""
    return text_unless_placeholder(found or original)


def output_text(value: object, original: str) -> str:
    """The output: of a conversation the last message, otherwise as in `input_text`."""
    return text_unless_placeholder(_find_text(value, OUTPUT_KEYS, 0) or original)


def result_text(value: object, original: str) -> str:
    """The result of a tool as written; of a message its content."""
    if isinstance(value, str) or is_message(value):
        return output_text(value, original)
    return text_unless_placeholder(original)


def calls_tools(value: object) -> bool:
    """True if the last message of a whole output calls tools."""
    found, _ = read_messages(value, role="assistant")
    return any(message.calls_tools for message in found[-1:])


def last_text(found: Sequence[ChatMessage], *, role: str) -> str:
    """The last text of a role, or the last text at all if the role has none."""
    texts = [message.text for message in found if message.text and message.role == role]
    return (texts or [message.text for message in found if message.text] or [""])[-1]


def _find_text(value: object, keys: Sequence[str], depth: int) -> str:
    """The text under the first known key; of a conversation, the last message."""
    if isinstance(value, str) or depth > MAX_DEPTH:
        return value if isinstance(value, str) else ""
    if items := as_list(value):
        if any(is_message(item) for item in items):
            return last_text(read_messages(items, role="")[0], role=_role_for(keys))
        return "\n".join(filter(None, (_find_text(item, keys, depth + 1) for item in items)))
    if not isinstance(value, Mapping):
        return ""
    if is_message(value):
        return "\n".join(
            message.text for message in read_messages(value, role="")[0] if message.text
        )
    for key in keys:
        inner = value.get(key)
        if key in ("messages", "args") and isinstance(inner, list | tuple):
            inner = _relevant_items(inner, key)
        if text := _find_text(inner, keys, depth + 1):
            return text
    return ""


def _relevant_items(inner: Sequence[object], key: str) -> object:
    """The first argument of a call; a whole conversation; of other lists the last item."""
    if key == "args":
        return inner[:1]
    return inner if any(is_message(item) for item in inner) else inner[-1:]


def _role_for(keys: Sequence[str]) -> str:
    return "user" if keys is INPUT_KEYS else "assistant"
