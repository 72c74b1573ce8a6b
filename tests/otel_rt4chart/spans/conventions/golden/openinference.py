"""OpenInference's spans."""

from __future__ import annotations

import json

from otel_rt4chart.spans.model.span_view import ChatMessage
from otel_rt4chart.spans.model.span_view import OperationKind as Kind
from tests.otel_rt4chart.spans.conventions.golden.case import Golden, doc, system, user

KIND = "openinference.span.kind"
NAME = {"convention": "OpenInference"}
LLM = {"kind": Kind.LLM, **NAME}
FOUND = {"kind": Kind.RETRIEVER, **NAME}
DOCUMENT = "retrieval.documents.{}.document."
IN, OUT = "llm.input_messages.{}.message.", "llm.output_messages.0.message."
PART = "contents.{}.message_content."

CASES = (
    Golden(
        name="a retrieval",
        attributes={
            KIND: "RETRIEVER",
            "input.value": "How long is the trial?",
            "input.mime_type": "text/plain",
            DOCUMENT.format(0) + "content": "14 days.",
            DOCUMENT.format(0) + "id": "a",
            DOCUMENT.format(0) + "score": 0.5,
            DOCUMENT.format(0) + "metadata": '{"source": "faq.md", "page": 2}',
            DOCUMENT.format(1) + "content": "Free.",
            DOCUMENT.format(1) + "id": 7,
            "session.id": "s1",
        },
        read={
            **FOUND,
            "input": "How long is the trial?",
            "documents": (doc("14 days.", "a", 0.5, source="faq.md", page=2), doc("Free.", "7")),
            "session": "s1",
        },
    ),
    Golden(
        name="a LangChain retrieval has its documents in the output too",
        attributes={
            KIND: "RETRIEVER",
            "output.value": json.dumps(
                {"documents": [{"id": None, "metadata": {"p": 1}, "page_content": "14 days.",
                                "type": "Document"}]}
            ),
        },
        read={**FOUND, "documents": (doc("14 days.", p=1),),
              "output": '{"documents": [{"id": null, "metadata": {"p": 1}, "page_content": '
                        '"14 days.", "type": "Document"}]}'},
    ),
    Golden(
        name="a reranking",
        attributes={
            KIND: "RERANKER",
            "reranker.query": "How long?",
            "reranker.model_name": "m",
            "reranker.input_documents.0.document.content": "14 days.",
            "reranker.input_documents.1.document.content": "Free.",
            "reranker.output_documents.0.document.content": "14 days.",
            "reranker.output_documents.0.document.score": 0.9,
        },
        read={
            "kind": Kind.RERANKER,
            **NAME,
            "input": "How long?",
            "input_documents": (doc("14 days."), doc("Free.")),
            "documents": (doc("14 days.", "", 0.9),),
        },
    ),
    Golden(
        name="a generation",
        attributes={
            KIND: "LLM",
            "llm.model_name": "m-1",
            "llm.prompt_template.version": "v2",
            "llm.prompt_template.variables": '{"context_str": "14 days.", "question": "How?"}',
            IN.format(0) + "role": "system",
            IN.format(0) + "content": "Be brief.",
            IN.format(1) + "role": "user",
            IN.format(1) + PART.format(0) + "type": "text",
            IN.format(1) + PART.format(0) + "text": "How long?",
            IN.format(1) + PART.format(1) + "type": "image",
            OUT + "role": "assistant",
            OUT + PART.format(0) + "type": "reasoning",
            OUT + PART.format(0) + "text": "Let me think.",
            OUT + PART.format(1) + "type": "text",
            OUT + PART.format(1) + "text": "30 days.",
            "input.value": "{}",
        },
        read={
            **LLM,
            "input": "{}",
            "prompt": (system("Be brief."), user("How long?")),
            "output": "30 days.",
            "variables": (doc("14 days."),),
            "model": "m-1",
            "prompt_version": "v2",
        },
    ),
    Golden(
        name="a generation that calls a tool",
        attributes={
            KIND: "LLM",
            IN.format(0) + "role": "tool",
            IN.format(0) + "content": "14 days.",
            IN.format(0) + "tool_call_id": "c1",
            OUT + "tool_calls.0.tool_call.id": "x",
            OUT + "tool_calls.0.tool_call.function.name": "search",
            OUT + "tool_calls.0.tool_call.function.arguments": "{}",
            "output.value": "{}",
        },
        read={**LLM, "prompt": (ChatMessage("tool", "14 days."),), "calls_tools_only": True},
    ),
    Golden(
        name="a completion",
        attributes={
            KIND: "LLM",
            "llm.prompts.0.prompt.text": "Answer: how long?",
            "llm.choices.0.completion.text": "30 days.",
        },
        read={**LLM, "prompt": (ChatMessage("prompt", "Answer: how long?"),), "output": "30 days."},
    ),
    Golden(
        name="a generation in LangChain's own JSON",
        attributes={
            KIND: "LLM",
            "input.value": json.dumps(
                {"messages": [[{"lc": 1, "type": "constructor",
                                "id": ["langchain", "schema", "messages", "HumanMessage"],
                                "kwargs": {"content": "How long?", "type": "human"}}]]}
            ),
            "output.value": json.dumps(
                {"generations": [[{"text": "30 days.", "type": "ChatGeneration",
                                   "message": {"lc": 1, "kwargs": {"content": "30 days."}}}]]}
            ),
        },
        read={**LLM, "input": "How long?", "prompt": (user("How long?"),), "output": "30 days."},
    ),
    Golden(
        name="a tool",
        attributes={
            KIND: "TOOL",
            "tool.name": "balance",
            "input.value": '{"account": "7"}',
            "output.value": '{"balance": 30, "currency": "EUR"}',
        },
        read={
            "kind": Kind.TOOL,
            **NAME,
            "input": "7",
            "output": '{"balance": 30, "currency": "EUR"}',
            "documents": (doc('{"balance": 30, "currency": "EUR"}'),),
        },
    ),
    Golden(
        name="a prompt template",
        attributes={
            KIND: "PROMPT",
            "input.value": '{"context": "14 days.", "question": "How long?"}',
        },
        read={"kind": Kind.PROMPT, **NAME, "input": "How long?", "variables": (doc("14 days."),)},
    ),
    Golden(
        name="a chain",
        attributes={KIND: "CHAIN", "input.value": '{"question": "How long?"}',
                    "output.value": '{"answer": "30 days."}'},
        read={"kind": Kind.CHAIN, **NAME, "input": "How long?", "output": "30 days."},
    ),
    *(
        Golden(name=f"{kind.lower()} by its kind", attributes={KIND: kind},
               read={"kind": Kind(kind), **NAME})
        for kind in ("AGENT", "EMBEDDING", "GUARDRAIL", "EVALUATOR")
    ),
    Golden(name="an unknown kind is none", attributes={KIND: "UNKNOWN"}, read={}),
    Golden(
        name="redacted documents are missing, not text",
        attributes={KIND: "RETRIEVER", DOCUMENT.format(0) + "content": "__REDACTED__",
                    DOCUMENT.format(1) + "content": "Free."},
        read={**FOUND, "documents": (doc("Free."),), "is_redacted": True},
    ),
    Golden(
        name="a redacted answer",
        attributes={KIND: "LLM", "output.value": "__REDACTED__"},
        read={**LLM, "is_redacted": True},
    ),
    Golden(
        name="an evicted kind is told by the keys that are left",
        attributes={DOCUMENT.format(9) + "content": "Ten."},
        dropped_attributes=30,
        read={**FOUND, "documents": (doc("Ten."),), "is_truncated": True},
    ),
    Golden(
        name="what is whole in one attribute was not evicted",
        attributes={"retrieval.documents": '["Ten."]'},
        dropped_attributes=30,
        read={**FOUND, "documents": (doc("Ten."),)},
    ),
    Golden(
        name="cut JSON is not used as if it were whole",
        attributes={KIND: "RETRIEVER", "retrieval.documents": '[{"document.content": "14 d'},
        read={**FOUND, "is_truncated": True},
    ),
    Golden(
        name="a chain that lost attributes is not asked for them",
        attributes={KIND: "CHAIN", "input.value": "How long?"},
        dropped_attributes=3,
        read={"kind": Kind.CHAIN, **NAME, "input": "How long?"},
    ),
    Golden(
        name="structured documents",
        attributes={
            KIND: "RETRIEVER",
            "retrieval.documents": (
                {"document": {"content": "14 days.", "id": "a", "metadata": {"tags": ("x", "y")}}},
                {"document": {"content": "Free.", "id": 7, "score": 0.25}},
            ),
        },
        read={
            **FOUND,
            "documents": (doc("14 days.", "a", tags=["x", "y"]), doc("Free.", "7", 0.25)),
        },
    ),
)  # fmt: skip
