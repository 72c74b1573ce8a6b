from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.spans.model.span_view import ChatMessage
from otel_rt4chart.spans.reading.messages import read_messages

KEYS = ("role", "type", "content", "parts", "text", "id", "system", "tool_calls", "kwargs", "0")
TOLD = ("text", "tool_call_response", "tool_result", "user", "human", "x", "__REDACTED__")
LEAVES = st.none() | st.booleans() | st.integers() | st.sampled_from(TOLD)
PARTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)
HUMAN = {"id": ["langchain", "schema", "messages", "HumanMessage"], "lc": 1, "type": "constructor"}
FORMS = {
    "a text": "How long?",
    "role and content": [{"role": "user", "content": "How long?"}],
    "one message": {"role": "user", "content": "How long?"},
    "contents": [{"role": "user", "content": [{"type": "text", "text": "How long?"}]}],
    "input_text": [{"role": "user", "content": [{"type": "input_text", "text": "How long?"}]}],
    "parts": [{"role": "user", "parts": [{"type": "text", "content": "How long?"}]}],
    "Google's parts": [{"role": "user", "parts": [{"text": "How "}, {"text": "long?"}]}],
    "LangChain's type": [{"type": "human", "content": "How long?"}],
    "LangChain's constructor": [[{**HUMAN, "kwargs": {"content": "How long?"}}]],
    "under messages": {"messages": [{"role": "user", "content": "How long?"}], "model": "m"},
    "under prompt": {"prompt": "How long?"},
    "parts of no message": [{"type": "text", "text": "How "}, {"type": "text", "text": "long?"}],
    "by index": {"0": {"message": {"role": "user", "content": "How long?"}}},
    "JSON inside": {"message": '{"role": "user", "content": "How long?"}'},
}


@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS)
def test_a_message_is_found_in_every_form(value: object) -> None:
    """One message of the user."""
    assert read_messages(value, role="user") == ((ChatMessage("user", "How long?"),), False)


@pytest.mark.parametrize(
    ("told", "role"),
    [("human", "user"), ("AI", "assistant"), ("model", "assistant"), ("developer", "system"),
     ("function", "tool"), ("Critic", "critic")],
)  # fmt: skip
def test_roles_have_one_name_each(told: str, role: str) -> None:
    """Lower case; an unknown one stays."""
    assert read_messages({"role": told, "content": "x"}, role="") == (
        (ChatMessage(role, "x"),),
        False,
    )


@pytest.mark.parametrize(
    "part",
    [
        {"type": "reasoning", "content": "Let me think."},
        {"type": "thinking", "thinking": "Let me think."},
        {"type": "message_content", "message_content": {"type": "reasoning", "text": "Hm."}},
        {"text": "Let me think.", "thought": True},
        {"type": "image", "text": "a picture"},
    ],
)
def test_reasoning_is_no_part_of_the_text(part: object) -> None:
    """The user does not read it; nor are pictures text."""
    value = {"role": "assistant", "parts": [part, {"type": "text", "content": "30 days."}]}

    assert read_messages(value, role="")[0] == (ChatMessage("assistant", "30 days."),)


@pytest.mark.parametrize(
    "message",
    [
        {"tool_calls": [{"id": "x"}], "content": ""},
        {"parts": [{"type": "tool_call", "id": "x"}]},
        {"content": [{"type": "tool_use", "id": "x"}]},
        {"content": [{"type": "tool-call", "toolCallId": "x"}]},
        {"parts": [{"functionCall": {"name": "x"}}]},
        {"kwargs": {"content": "", "additional_kwargs": {"tool_calls": [{"id": "x"}]}}},
    ],
)
def test_a_call_of_a_tool_is_told(message: dict[str, object]) -> None:
    """In the form of every provider."""
    found, _ = read_messages({"role": "assistant", **message}, role="assistant")

    assert found == (ChatMessage("assistant", "", calls_tools=True),)


@pytest.mark.parametrize("key", ["response", "result"])
def test_what_a_tool_answered_is_the_text_of_its_message(key: str) -> None:
    """Of either generation of the convention, structured or not."""
    parts = [{"type": "tool_call_response", "id": "x", key: {"days": 14}}]

    assert read_messages({"role": "tool", "parts": parts}, role="")[0] == (
        ChatMessage("tool", '{"days":14}'),
    )


def test_a_placeholder_is_no_message() -> None:
    """It tells that there was one."""
    assert read_messages([{"role": "user", "content": "__REDACTED__"}], role="") == ((), True)


def test_a_message_of_tool_results_alone_is_a_tools_whatever_its_role() -> None:
    """Pydantic AI writes them as the user's, who said no such thing."""
    part = {"type": "tool_call_response", "id": "1", "result": ["14 days.", "Dogs."]}

    found, _ = read_messages([{"role": "user", "parts": [part]}], role="user")

    assert [(one.role, one.text) for one in found] == [("tool", '["14 days.","Dogs."]')]


@pytest.mark.parametrize("told", [["string", "null"], {"a": "text"}, 1, None])
def test_a_type_that_is_no_word_says_nothing(told: object) -> None:
    """JSON Schema writes lists of types; the text beside one is text."""
    part = {"type": told, "text": "How long?"}

    assert read_messages([{"role": "user", "content": [part]}], role="")[0] == (
        ChatMessage("user", "How long?"),
    )
    assert read_messages([part], role="user")[0] == (ChatMessage("user", "How long?"),)


@given(PARTS)
def test_whatever_stands_under_a_messages_keys_is_read(value: object) -> None:
    """The reader runs on the thread that exports, where nothing may raise."""
    found, _ = read_messages(value, role="user")

    assert all(one.text or one.calls_tools for one in found)
