"""The text in a whole input or output, as frameworks write it: plain, or in JSON around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.view import Message
from otel_rt4chart.spans.reading.messages import is_message, messages, shown

MAX_DEPTH = 12
INPUT_KEYS = (
    "question", "query", "user_input", "input", "inputs", "messages", "message", "prompt",
    "args", "kwargs", "content", "text",
)  # fmt: skip
OUTPUT_KEYS = (
    "generations", "choices", "candidates", "messages", "message", "kwargs", "answer", "output",
    "outputs", "result", "response", "completion", "content", "text",
)  # fmt: skip


def input_text(value: object, given: str) -> str:
    """What was asked: of a conversation what the user said last, of a call its first argument.

    `given` is the value as it was written: what has no known key stays as it is.
    """
    inner = _text_in(value, INPUT_KEYS, 0)
    if not inner and isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        inner = only if isinstance(only, str) else ""
    return shown(inner or given)


def output_text(value: object, given: str) -> str:
    """What came out: of a conversation what was said last; else as `input_text`."""
    return shown(_text_in(value, OUTPUT_KEYS, 0) or given)


def result_text(value: object, given: str) -> str:
    """What a tool returned, as it stands there; of a message its content."""
    if isinstance(value, str) or is_message(value):
        return output_text(value, given)
    return shown(given)


def calls_tools(value: object) -> bool:
    """True where a whole output is a message that calls tools."""
    found, _ = messages(value, role="assistant")
    return any(one.calls_tools for one in found[-1:])


def last(found: Sequence[Message], *, role: str) -> str:
    """The last text of a role, or, where nobody of it spoke, the last text of all."""
    texts = [one.text for one in found if one.text and one.role == role]
    return (texts or [one.text for one in found if one.text] or [""])[-1]


def _text_in(value: object, keys: Sequence[str], depth: int) -> str:
    """The text under the first known key; of a conversation's messages the last one's."""
    if isinstance(value, str) or depth > MAX_DEPTH:
        return value if isinstance(value, str) else ""
    if items := values.listed(value):
        if any(is_message(one) for one in items):
            return last(messages(items, role="")[0], role=_speaker(keys))
        return "\n".join(filter(None, (_text_in(one, keys, depth + 1) for one in items)))
    if not isinstance(value, Mapping):
        return ""
    if is_message(value):
        return "\n".join(one.text for one in messages(value, role="")[0] if one.text)
    for key in keys:
        inner = value.get(key)
        if key in ("messages", "args") and isinstance(inner, list | tuple):
            inner = _chosen(inner, key)
        if text := _text_in(inner, keys, depth + 1):
            return text
    return ""


def _chosen(inner: Sequence[object], key: str) -> object:
    """A call's first argument; a conversation whole, else, of what is no message, the last one."""
    if key == "args":
        return inner[:1]
    return inner if any(is_message(one) for one in inner) else inner[-1:]


def _speaker(keys: Sequence[str]) -> str:
    return "user" if keys is INPUT_KEYS else "assistant"
