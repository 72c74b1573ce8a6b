"""Messages of a conversation, in every form in which conventions and frameworks write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from otel_rt4chart.spans.conventions.registry import PLACEHOLDER_STARTS, PLACEHOLDERS
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.view import Message

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
# What holds messages, in the order in which it is looked for; `kwargs` is LangChain's constructor.
HOLDERS = (
    "messages", "message", "kwargs", "choices", "generations", "candidates", "prompts",
    "completion", "prompt", "chat_history", "inputs", "input",
)  # fmt: skip
CALLS = ("tool_calls", "toolCalls", "function_call", "functionCall")
CALL_TYPES = frozenset({"tool_call", "tool_use", "tool-call", "function_call", "server_tool_use"})
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
RESULT_TYPES = frozenset({"tool_call_response", "tool_result", "tool-result"})
RESULTS = ("response", "result", "output", "content")


class Said(NamedTuple):
    """Text that was said, whether a tool was called, whether a placeholder stood in it."""

    text: str = ""
    calls_tools: bool = False
    is_redacted: bool = False


def is_placeholder(text: str) -> bool:
    """True for what stands where text was taken out."""
    return text in PLACEHOLDERS or text.startswith(PLACEHOLDER_STARTS)


def shown(value: object) -> str:
    """A value as text; nothing for a placeholder."""
    text = values.text(value)
    return "" if is_placeholder(text) else text


def messages(value: object, *, role: str) -> tuple[tuple[Message, ...], bool]:
    """The messages in a value, and whether a placeholder stood for any of them.

    `role` is that of a message without one.
    """
    found = list(_found(value, role, 0))
    kept = (
        Message(role, said.text, said.calls_tools)
        for role, said in found
        if said.text or said.calls_tools
    )
    return tuple(kept), any(said.is_redacted for _, said in found)


def is_message(value: object) -> bool:
    """True for a map that is one message of a conversation."""
    if not isinstance(value, Mapping):
        return False
    return _role(value) != "" and any(key in value for key in ("content", "parts", *CALLS))


def _found(value: object, role: str, depth: int) -> Iterator[tuple[str, Said]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        yield role, said(value)
    elif isinstance(value, Mapping):
        yield from _in_map(value, role, depth)
    elif items := values.listed(value):
        if all(isinstance(one, Mapping) and _is_part(one) for one in items):
            yield role, said(items)
        else:
            for one in items:
                yield from _found(one, role, depth + 1)


def _in_map(value: Mapping[str, object], role: str, depth: int) -> Iterator[tuple[str, Said]]:
    role = _role(value) or role
    if items := values.listed(value):
        yield from _found(items, role, depth + 1)
        return
    if is_message(value):
        yield "tool" if _only_results(value) else role, _said_in(value)
        return
    if isinstance(system := value.get("system"), str) and "content" not in value:
        yield "system", said(system)
    for name in HOLDERS:
        if (inner := value.get(name)) and _holds(inner):
            if isinstance(inner, str):
                inner = values.opened(inner).value or inner
            yield from _found(inner, role, depth + 1)
            return
    yield role, _said_in(value)


def _only_results(value: Mapping[str, object]) -> bool:
    """True for a message that only brings back what tools returned, as the user's it may stand."""
    parts = values.listed(value.get("parts") or value.get("content"))
    return bool(parts) and all(
        isinstance(one, Mapping) and _type(one) in RESULT_TYPES for one in parts
    )


def _holds(inner: object) -> bool:
    return isinstance(inner, str | Mapping) or bool(values.listed(inner))


def _role(value: Mapping[str, object]) -> str:
    """The role, from its own key, from the type, or from the class of a LangChain message."""
    for key in ("role", "type"):
        told = value.get(key)
        if isinstance(told, str) and told:
            told = told.lower()
            if key == "role" or told in KNOWN_ROLES:
                return ROLES.get(told, told)
    path = value.get("id")
    if isinstance(path, list | tuple) and path and isinstance(path[-1], str):
        name = path[-1].removesuffix("Chunk").removesuffix("Message").lower()
        return ROLES.get(name, name) if name in KNOWN_ROLES else ""
    return ""


def _said_in(value: Mapping[str, object]) -> Said:
    """What a message says: its content or parts, and whether it calls tools."""
    told = Said()
    for name in ("content", "contents", "parts", "text"):
        if value.get(name):
            told = said(value[name])
            break
    extra = value.get("additional_kwargs")
    calls = any(value.get(name) for name in CALLS) or (
        isinstance(extra, Mapping) and any(extra.get(name) for name in CALLS)
    )
    return told._replace(calls_tools=told.calls_tools or calls)


def said(value: object, depth: int = 0) -> Said:
    """The text of a content, plain or in parts; reasoning is no part of it."""
    if isinstance(value, str):
        return Said(shown(value), is_redacted=is_placeholder(value))
    if depth > MAX_DEPTH:
        return Said()
    if items := values.listed(value):
        parts = [said(one, depth + 1) for one in items]
        return Said(
            "".join(part.text for part in parts),
            any(part.calls_tools for part in parts),
            any(part.is_redacted for part in parts),
        )
    return _part(value, depth) if isinstance(value, Mapping) else Said()


def _part(part: Mapping[str, object], depth: int) -> Said:
    kind = _type(part)
    if kind in CALL_TYPES or any(part.get(name) for name in CALLS):
        return Said(calls_tools=True)
    if kind in RESULT_TYPES:
        result = next((part[name] for name in RESULTS if part.get(name) is not None), None)
        rows = values.listed(result)
        if rows and not all(isinstance(one, Mapping) and one.get("type") for one in rows):
            return Said(values.text(result))  # rows stay apart, parts are one text
        text = said(result, depth + 1)
        return text if text.text or text.is_redacted else Said(shown(result))
    if part.get("thought") or (kind not in TEXT_TYPES and kind):
        return Said()
    for name in ("text", "content", "parts", "message_content"):
        if part.get(name):
            return said(part[name], depth + 1)
    return Said()


def _is_part(value: Mapping[str, object]) -> bool:
    return "role" not in value and (
        _type(value) in TEXT_TYPES | CALL_TYPES | {"reasoning", "thinking"}
    )


def _type(part: Mapping[str, object]) -> str:
    """The type of a part; one that is no word, such as a list of JSON types, is none."""
    told = part.get("type")
    return told if isinstance(told, str) else ""
