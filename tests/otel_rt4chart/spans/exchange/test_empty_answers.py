"""An answer without text: recorded with its reason, and never judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.verdict import Decision
from tests.otel_rt4chart.spans.model.made import CHAIN, KIND, SAID, SEARCH, generation, made

CALL = {"id": "c1", "name": "search", "arguments": "{}"}
MESSAGE = {"content": "", "additional_kwargs": {"refusal": None}, "type": "ai"}
LANGCHAIN = {
    "generations": [
        [
            {
                "text": "",
                "generation_info": {"finish_reason": "stop"},
                "type": "ChatGeneration",
                "message": {"lc": 1, "id": ["langchain", "AIMessage"], "kwargs": MESSAGE},
            }
        ]
    ],
    "llm_output": {"model_name": "gpt 4o", "token_usage": {"completion_tokens": 0}},
}
LLAMA_INDEX = {"message": {"role": "assistant", "blocks": []}, "raw": {"choices": [{"index": 0}]}}
COMPLETION = "gen_ai.completion.0."


def parts(*of: Mapping[str, Any]) -> str:
    """GenAI's output messages with these parts."""
    return json.dumps([{"role": "assistant", "parts": of, "finish_reason": "stop"}])


EMPTY: dict[str, dict[str, Any]] = {
    "OpenInference, no text": {KIND: "LLM", SAID: ""},
    "OpenInference, LangChain's result": {KIND: "LLM", "output.value": json.dumps(LANGCHAIN)},
    "OpenInference, LangChain's result with the role": {
        KIND: "LLM",
        "llm.output_messages.0.message.role": "assistant",
        "output.value": json.dumps(LANGCHAIN),
    },
    "OpenInference, LlamaIndex's text of None": {KIND: "LLM", "output.value": "assistant: None"},
    "OpenInference, LlamaIndex's result": {KIND: "LLM", "output.value": json.dumps(LLAMA_INDEX)},
    "OpenInference, null": {KIND: "LLM", "output.value": "null"},
    "OpenInference, the text of None": {KIND: "LLM", "output.value": "None"},
    "OpenInference, a form": {KIND: "LLM", "output.value": '{"answer": "", "sure": false}'},
    "OpenInference, a tool": {
        KIND: "LLM",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search",
    },
    "traceAI": {"gen_ai.span.kind": "LLM", "output.value": json.dumps(LANGCHAIN)},
    "GenAI, no part": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": parts()},
    "GenAI, an empty text": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": parts({"type": "text", "content": ""}),
    },
    "GenAI, reasoning alone": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": parts({"type": "reasoning", "content": "Two weeks?"}),
    },
    "GenAI, a refusal": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": parts({"type": "refusal"}),
    },
    "GenAI, a tool": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": parts({"type": "tool_call", **CALL}),
    },
    "OpenLLMetry": {"llm.request.type": "chat", f"{COMPLETION}content": ""},
    "OpenLLMetry, LlamaIndex": {
        "llm.request.type": "chat",
        "traceloop.entity.output": json.dumps(LLAMA_INDEX),
    },
    "Langfuse": {
        "langfuse.observation.type": "generation",
        "langfuse.observation.output": '{"role": "assistant", "content": null}',
    },
    "Vercel": {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": ""},
    "Vercel, tools": {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.response.toolCalls": json.dumps([CALL]),
    },
    "TruLens": {"ai.observability.span_type": "generation", "ai.observability.call.return": "None"},
    "LangSmith": {"langsmith.span.kind": "llm", "gen_ai.completion": json.dumps(LANGCHAIN)},
    "MLflow": {"mlflow.spanType": '"LLM"', "mlflow.spanOutputs": '{"choices": []}'},
    "Laminar": {"lmnr.span.type": "LLM", "lmnr.span.output": '[{"role": "model", "content": []}]'},
    "Pydantic AI": {
        "gen_ai.operation.name": "chat",
        "events": json.dumps([{"event.name": "gen_ai.choice", "message": {"content": ""}}]),
    },
}  # fmt: skip


@pytest.mark.parametrize("attributes", EMPTY.values(), ids=EMPTY)
def test_an_empty_answer_is_no_answer(attributes: dict[str, Any]) -> None:
    """In each convention; the structure around the empty text is no answer either."""
    (found,) = find_candidates([CHAIN, SEARCH, made(3, 1, attributes)])

    assert (found.exchange.answer, found.blocked) == ("", Decision.NO_ANSWER)
    assert [one.text for one in found.exchange.passages] == ["14 days.", "Free."]


WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "OpenInference": ("output.value", {KIND: "LLM"}),
    "OpenInference, message": (SAID, {KIND: "LLM"}),
    "traceAI": ("output.value", {"gen_ai.span.kind": "LLM"}),
    "OpenLLMetry": ("traceloop.entity.output", {"llm.request.type": "chat"}),
    "OpenLLMetry, message": (f"{COMPLETION}content", {"llm.request.type": "chat"}),
    "Langfuse": ("langfuse.observation.output", {"langfuse.observation.type": "generation"}),
    "Vercel": ("ai.response.text", {"ai.operationId": "ai.generateText.doGenerate"}),
    "TruLens": ("ai.observability.call.return", {"ai.observability.span_type": "generation"}),
    "LangSmith": ("gen_ai.completion", {"langsmith.span.kind": "llm"}),
    "MLflow": ("mlflow.spanOutputs", {"mlflow.spanType": '"LLM"'}),
    "Laminar": ("lmnr.span.output", {"lmnr.span.type": "LLM"}),
    "GenAI": ("gen_ai.output.messages", {"gen_ai.operation.name": "chat"}),
}


@pytest.mark.parametrize("convention", WRITTEN)
@pytest.mark.parametrize(
    "written",
    [
        "",
        '""',
        "assistant:",
        "assistant: None",
        '{"generations": [[{"text": ""}]]}',
        '{"generations": [[{"text": ""',
        '{"choices": [{"message": {"content": "',
    ],
)
def test_what_is_left_of_an_output_without_text_is_no_answer(convention: str, written: str) -> None:
    """Quotes, a role, a structure or its beginning: nothing of it is a claim."""
    key, attributes = WRITTEN[convention]

    (found,) = find_candidates([CHAIN, SEARCH, made(3, 1, {**attributes, key: written})])

    assert found.exchange.answer == ""
    assert found.blocked in (Decision.NO_ANSWER, Decision.NO_CONTENT, Decision.TRUNCATED)


@pytest.mark.parametrize(
    ("attributes", "answer"),
    [
        ({SAID: "None"}, "None"),
        ({"output.value": "None of them."}, "None of them."),
        ({"output.value": "assistant: Nine."}, "assistant: Nine."),
        ({"output.value": '{"result": null, "reason": "It is not in the texts."}'},
         '{"result": null, "reason": "It is not in the texts."}'),
        ({"output.value": '{"answer": 14}'}, '{"answer": 14}'),
        ({"output.value": '{"rows": []}'}, '{"rows": []}'),
    ],
)  # fmt: skip
def test_a_short_or_structured_answer_is_an_answer(attributes: dict[str, Any], answer: str) -> None:
    """A model may say None, and a form may have its text under another key."""
    (found,) = find_candidates([CHAIN, SEARCH, made(3, 1, {KIND: "LLM", **attributes})])

    assert (found.exchange.answer, found.blocked) == (answer, None)


def test_the_placeholder_of_a_query_engine_is_no_answer() -> None:
    """LlamaIndex's engine returns it if the model's text is empty, or nothing was found."""
    engine = made(1, 0, {KIND: "CHAIN", "input.value": "How?", "output.value": "Empty Response"})

    (found,) = find_candidates([engine, SEARCH, made(3, 1, EMPTY["OpenInference, no text"])])

    assert (found.exchange.answer, found.blocked) == ("", Decision.NO_ANSWER)


def test_a_call_of_a_tool_before_an_answer_is_no_answer_of_its_own() -> None:
    """Only a turn that ends with it has none."""
    calls = made(3, 1, EMPTY["OpenInference, a tool"])

    (found,) = find_candidates([CHAIN, SEARCH, calls, generation(4, 1, "14 days.")])

    assert (found.exchange.answer, found.blocked) == ("14 days.", None)


def test_an_answer_that_is_not_recorded_is_missing_content() -> None:
    """The instrumentation captured no text: whether there was one is unknown."""
    silent = made(3, 1, {KIND: "LLM", "llm.output_messages.0.message.role": "assistant"})

    (found,) = find_candidates([CHAIN, SEARCH, silent])

    assert (found.exchange.answer, found.blocked) == ("", Decision.NO_CONTENT)
