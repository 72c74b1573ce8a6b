"""Reads the texts of conversations and of whole inputs and outputs, in every known form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.spans.conventions.convention import CONTEXT_NAMES
from otel_rt4chart.spans.conventions.registry import PLACEHOLDER_STARTS, PLACEHOLDERS
from otel_rt4chart.spans.model.span_view import ChatMessage
from otel_rt4chart.spans.model.values import as_list, as_text, parse_json

MAX_DEPTH = 12
ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "developer": "system",
    "function": "tool",
}
KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"} | ROLES.keys())
# Keys that hold messages, in the order of search; `kwargs` is from LangChain's serialised objects.
MESSAGE_KEYS = (
    "messages", "message", "kwargs", "choices", "generations", "candidates", "prompts",
    "completion", "prompt", "chat_history", "inputs", "input",
)  # fmt: skip
TOOL_CALL_KEYS = ("tool_calls", "toolCalls", "function_call", "functionCall")
TOOL_CALL_TYPES = frozenset(
    {"tool_call", "tool_use", "tool-call", "function_call", "server_tool_use"}
)
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
TOOL_RESULT_TYPES = frozenset({"tool_call_response", "tool_result", "tool-result"})
TOOL_RESULT_KEYS = ("response", "result", "output", "content")
# LlamaIndex's messages have `blocks`.
CONTENT_MARKS = ("content", "parts", "blocks", *TOOL_CALL_KEYS)


class ContentText(NamedTuple):
    """The text of a message or part, whether it calls tools, and whether text was redacted."""

    text: str = ""
    calls_tools: bool = False
    is_redacted: bool = False


# The keys of a message that needs no unwrapping: see `flat_message_text`.
FLAT_ROLE, FLAT_CONTENT = "message.role", "message.content"


def is_placeholder(text: str) -> bool:
    """True for a placeholder that replaces redacted text."""
    return text in PLACEHOLDERS or text.startswith(PLACEHOLDER_STARTS)


def text_unless_placeholder(value: object) -> str:
    """A value as text; empty for a placeholder."""
    text = as_text(value)
    return "" if is_placeholder(text) else text


def read_messages(value: object, *, role: str) -> tuple[tuple[ChatMessage, ...], bool]:
    """The messages in a value, and whether any of them was redacted.

    `role` is the role of messages that name none.
    """
    found = list(_find_messages(value, role, 0))
    messages = (
        ChatMessage(role, content.text, content.calls_tools)
        for role, content in found
        if content.text or content.calls_tools
    )
    return tuple(messages), any(content.is_redacted for _, content in found)


def flat_message_text(rows: Collection[Mapping[str, object]]) -> str:
    """The text of messages with dotted keys that have nothing but a role and a text: certainly.

    Of OpenInference, whose generations have one key for each field of each message. Empty for any
    other messages.
    """
    texts = []
    for row in rows:
        role, text = row.get(FLAT_ROLE), row.get(FLAT_CONTENT)
        if len(row) != 2 or not (isinstance(role, str) and role and isinstance(text, str) and text):
            return ""
        texts.append(text_unless_placeholder(text))
    joined = "\n".join(texts) if all(texts) else ""
    return "" if is_left_over(joined) else joined


def is_message(value: object) -> bool:
    """True for a map that is one message of a conversation."""
    if not isinstance(value, Mapping):
        return False
    return _role(value) != "" and any(key in value for key in CONTENT_MARKS)


def _find_messages(value: object, role: str, depth: int) -> Iterator[tuple[str, ContentText]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        yield role, read_content(value)
    elif isinstance(value, Mapping):
        yield from _messages_in_map(value, role, depth)
    elif items := as_list(value):
        if all(isinstance(item, Mapping) and _is_part(item) for item in items):
            yield role, read_content(items)
        else:
            for item in items:
                yield from _find_messages(item, role, depth + 1)


def _messages_in_map(
    value: Mapping[str, object], role: str, depth: int
) -> Iterator[tuple[str, ContentText]]:
    role = _role(value) or role
    if items := as_list(value):
        yield from _find_messages(items, role, depth + 1)
        return
    if is_message(value):
        yield "tool" if _has_only_tool_results(value) else role, _message_content(value)
        return
    if isinstance(system := value.get("system"), str) and "content" not in value:
        yield "system", read_content(system)
    for name in MESSAGE_KEYS:
        if (inner := value.get(name)) and _can_hold_messages(inner):
            if isinstance(inner, str):
                inner = parse_json(inner).value or inner
            yield from _find_messages(inner, role, depth + 1)
            return
    yield role, _message_content(value)


def _has_only_tool_results(value: Mapping[str, object]) -> bool:
    """True for a message that contains only tool results; some APIs give it the role `user`."""
    parts = as_list(value.get("parts") or value.get("content") or value.get("blocks"))
    return bool(parts) and all(
        isinstance(part, Mapping) and _part_type(part) in TOOL_RESULT_TYPES for part in parts
    )


def _can_hold_messages(inner: object) -> bool:
    return isinstance(inner, str | Mapping) or bool(as_list(inner))


def _role(value: Mapping[str, object]) -> str:
    """The role, from its own key, from the type, or from the class of a LangChain message."""
    for key in ("role", "type"):
        role = value.get(key)
        if isinstance(role, str) and role:
            role = role.lower()
            if key == "role" or role in KNOWN_ROLES:
                return ROLES.get(role, role)
    path = value.get("id")
    if isinstance(path, list | tuple) and path and isinstance(path[-1], str):
        name = path[-1].removesuffix("Chunk").removesuffix("Message").lower()
        return ROLES.get(name, name) if name in KNOWN_ROLES else ""
    return ""


def _message_content(value: Mapping[str, object]) -> ContentText:
    """The content or parts of a message, and whether it calls tools."""
    content = ContentText()
    for name in ("content", "contents", "parts", "blocks", "text"):
        if value.get(name):
            content = read_content(value[name])
            break
    extra = value.get("additional_kwargs")
    calls = any(value.get(name) for name in TOOL_CALL_KEYS) or (
        isinstance(extra, Mapping) and any(extra.get(name) for name in TOOL_CALL_KEYS)
    )
    return content._replace(calls_tools=content.calls_tools or calls)


def read_content(value: object, depth: int = 0) -> ContentText:
    """The text of a content, plain or in parts, without reasoning."""
    if isinstance(value, str):
        return ContentText(text_unless_placeholder(value), is_redacted=is_placeholder(value))
    if depth > MAX_DEPTH:
        return ContentText()
    if items := as_list(value):
        parts = [read_content(item, depth + 1) for item in items]
        return ContentText(
            "".join(part.text for part in parts),
            any(part.calls_tools for part in parts),
            any(part.is_redacted for part in parts),
        )
    return _part_content(value, depth) if isinstance(value, Mapping) else ContentText()


def _part_content(part: Mapping[str, object], depth: int) -> ContentText:
    kind = _part_type(part)
    if kind in TOOL_CALL_TYPES or any(part.get(name) for name in TOOL_CALL_KEYS):
        return ContentText(calls_tools=True)
    if kind in TOOL_RESULT_TYPES:
        result = next((part[name] for name in TOOL_RESULT_KEYS if part.get(name) is not None), None)
        rows = as_list(result)
        if rows and not all(isinstance(row, Mapping) and row.get("type") for row in rows):
            return ContentText(as_text(result))  # rows stay JSON; typed parts are joined
        content = read_content(result, depth + 1)
        return (
            content
            if content.text or content.is_redacted
            else ContentText(text_unless_placeholder(result))
        )
    if part.get("thought") or (kind not in TEXT_TYPES and kind):
        return ContentText()
    for name in ("text", "content", "parts", "message_content"):
        if part.get(name):
            return read_content(part[name], depth + 1)
    return ContentText()


def _is_part(value: Mapping[str, object]) -> bool:
    return "role" not in value and (
        _part_type(value) in TEXT_TYPES | TOOL_CALL_TYPES | {"reasoning", "thinking"}
    )


def _part_type(part: Mapping[str, object]) -> str:
    """The type of a part; empty if it is not a string, such as a list of JSON types."""
    value = part.get("type")
    return value if isinstance(value, str) else ""


INPUT_KEYS = (
    "question", "query", "query_str", "query_bundle", "str_or_query_bundle", "user_input", "input",
    "inputs", "messages", "message", "prompt", "args", "kwargs", "content", "text",
)  # fmt: skip
OUTPUT_KEYS = (
    "generations", "choices", "candidates", "messages", "message", "kwargs", "answer", "output",
    "outputs", "result", "response", "completion", "content", "text",
)  # fmt: skip
# An output may be in these keys; of the others, these hold what it was made from.
HOLDING_KEYS = (*OUTPUT_KEYS, "parts", "contents", "blocks")
NOT_THE_OUTPUT = CONTEXT_NAMES.union(HOLDING_KEYS, INPUT_KEYS)
WITHOUT_TEXT = TOOL_CALL_TYPES | {"reasoning", "thinking", "refusal"}
# `str()` of LlamaIndex's response and of None, and what its query engines return for no text.
WRITTEN_EMPTY = re.compile(r"\s*+(?:(?:assistant|model|ai):\s*+)?(?:None\s*+)?|Empty Response")


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
    """The output: of a conversation the last message, otherwise as in `input_text`.

    An output that was recorded empty is empty, whatever else its structure holds.
    """
    found = _find_text(value, OUTPUT_KEYS, 0)
    if not found and not isinstance(value, str) and is_empty_output(value):
        return ""
    return text_unless_placeholder(found or original)


def is_written_empty(text: str) -> bool:
    """True for the text into which a program turns an output without text."""
    return WRITTEN_EMPTY.fullmatch(text) is not None


# What remains of an output without text, where the text alone should stand.
_NOTHING = re.compile(r"""\s*(?:(?:assistant|model|ai):(?:\s*None)?|""|'')\s*""")
_RESULT = re.compile(r'\s*\{\s*"(?:generations|choices|candidates|messages?)"\s*:')
_TEXT = re.compile(r'"(?:text|content)"\s*:\s*"(?!"|$)')


def is_left_over(text: str) -> bool:
    """True for the quotes, the role or the structure around an output without text, also cut."""
    if not _RESULT.match(text):
        return _NOTHING.fullmatch(text) is not None
    parsed = parse_json(text)
    return is_empty_output(parsed.value) if parsed.value else not _TEXT.search(text)


def is_empty_output(value: object, depth: int = 0) -> bool:
    """True if every key of the structure that may hold the output is there and holds nothing.

    Unknown keys with a sentence are an output of their own, except the question and the context.
    """
    if depth > MAX_DEPTH:
        return False
    if value is None or isinstance(value, str):
        return not (value or "").strip()
    if isinstance(value, list | tuple):
        return all(is_empty_output(item, depth + 1) for item in value)
    if not isinstance(value, Mapping):
        return False
    if _part_type(value) in WITHOUT_TEXT:
        return True
    held = [value[key] for key in HOLDING_KEYS if key in value]
    others = (item for key, item in value.items() if key not in NOT_THE_OUTPUT)
    return (
        bool(held)
        and not any(isinstance(item, str) and " " in item.strip() for item in others)
        and all(is_empty_output(item, depth + 1) for item in held)
    )


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
        # Asked before it is looked into: a value has one or two of the many keys.
        if (inner := value.get(key)) is None:
            continue
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
