"""OpenTelemetry GenAI's spans."""

from __future__ import annotations

import json

from otel_rt4chart.spans.model.span_view import ChatMessage
from otel_rt4chart.spans.model.span_view import OperationKind as Kind
from tests.otel_rt4chart.spans.conventions.golden.case import Golden, doc, system, user

OPERATION = "gen_ai.operation.name"
NAME = {"convention": "OpenTelemetry GenAI"}
LLM = {"kind": Kind.LLM, **NAME}
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "How long?"}]}]
SAID = [
    {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "Let me think."},
            {"type": "text", "content": "30 days."},
        ],
        "finish_reason": "stop",
    }
]
TOLD = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c", "response": "14 days."}],
}
CALL = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "search",
                                         "arguments": {"q": "trial"}}]}]  # fmt: skip
TALK = {"prompt": (user("How long?"),), "output": "30 days."}

CASES = (
    Golden(
        name="a generation, messages as JSON",
        attributes={
            OPERATION: "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "m",
            "gen_ai.response.model": "m-1",
            "gen_ai.conversation.id": "s1",
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
            "gen_ai.input.messages": json.dumps([*ASKED, TOLD]),
            "gen_ai.output.messages": json.dumps(SAID),
        },
        read={
            **LLM,
            "prompt": (system("Be brief."), user("How long?"), ChatMessage("tool", "14 days.")),
            "output": "30 days.",
            "model": "m-1",
            "session": "s1",
        },
    ),
    Golden(
        name="a generation, messages structured",
        attributes={
            OPERATION: "chat",
            "gen_ai.input.messages": tuple(ASKED),
            "gen_ai.output.messages": tuple(SAID),
        },
        read={**LLM, **TALK},
    ),
    Golden(
        name="a generation of GenAI that calls a tool",
        attributes={OPERATION: "chat", "gen_ai.output.messages": json.dumps(CALL)},
        read={**LLM, "calls_tools_only": True},
    ),
    *(
        Golden(name=f"operation {operation}", attributes={OPERATION: operation},
               read={"kind": kind, **NAME})
        for operation, kind in (
            ("generate_content", Kind.LLM), ("text_completion", Kind.LLM),
            ("embeddings", Kind.EMBEDDING), ("invoke_agent", Kind.AGENT),
            ("invoke_workflow", Kind.CHAIN), ("evaluation", Kind.EVALUATOR),
            ("search_memory", Kind.RETRIEVER),
        )
    ),
    Golden(name="making an agent is no work of one", attributes={OPERATION: "create_agent"},
           read={}),
    Golden(
        name="a retrieval, text flat beside metadata",
        attributes={
            OPERATION: "retrieval",
            "gen_ai.data_source.id": "kb",
            "gen_ai.retrieval.query.text": "How long?",
            "gen_ai.retrieval.documents": json.dumps(
                [{"content": "14 days.", "id": "a", "source": "faq.md"}, {"content": "Free."}]
            ),
        },
        read={
            "kind": Kind.RETRIEVER,
            **NAME,
            "input": "How long?",
            "documents": (doc("14 days.", "a", source="faq.md"), doc("Free.")),
        },
    ),
    Golden(
        name="a retrieval, structured, metadata apart",
        attributes={
            OPERATION: "retrieval",
            "gen_ai.retrieval.documents": (
                {"id": "a", "score": 0.5, "content": "14 days.", "metadata": {"p": 1}},
                {"id": "b", "score": 0.25},
            ),
        },
        read={"kind": Kind.RETRIEVER, **NAME, "documents": (doc("14 days.", "a", 0.5, p=1),)},
    ),
    Golden(
        name="a tool that looks things up",
        attributes={
            OPERATION: "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.type": "datastore",
            "gen_ai.tool.call.arguments": '{"query": "trial"}',
            "gen_ai.tool.call.result": json.dumps({"results": [{"id": "a", "text": "14 days."}]}),
        },
        read={
            "kind": Kind.TOOL,
            **NAME,
            "is_datastore": True,
            "input": "trial",
            "output": '{"results": [{"id": "a", "text": "14 days."}]}',
            "documents": (doc("14 days.", "a"),),
        },
    ),
    Golden(
        name="a tool that returns a row",
        attributes={
            OPERATION: "execute_tool",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.result": {"name": "Ada", "text": "gold", "balance": 30},
        },
        read={
            "kind": Kind.TOOL,
            **NAME,
            "output": '{"name":"Ada","text":"gold","balance":30}',
            "documents": (doc('{"name":"Ada","text":"gold","balance":30}'),),
        },
    ),
    Golden(
        name="messages in the event of the details",
        attributes={OPERATION: "chat"},
        events=[
            (
                "gen_ai.client.inference.operation.details",
                {"gen_ai.input.messages": tuple(ASKED), "gen_ai.output.messages": tuple(SAID)},
            )
        ],
        read={**LLM, **TALK},
    ),
    Golden(
        name="events of version 1.36",
        attributes={OPERATION: "chat", "gen_ai.system": "openai"},
        events=[
            ("gen_ai.system.message", {"content": "Be brief."}),
            ("gen_ai.user.message", {"content": "How long?", "role": "user"}),
            ("gen_ai.choice", {"index": 0, "finish_reason": "stop",
                               "message": '{"role": "assistant", "content": "30 days."}'}),
        ],
        read={**LLM, "prompt": (system("Be brief."), user("How long?")), "output": "30 days."},
    ),
    Golden(
        name="events with a body, as Azure's client writes them",
        attributes={OPERATION: "chat"},
        events=[
            ("gen_ai.user.message", {"gen_ai.event.content": '{"content": "How long?"}'}),
            ("gen_ai.choice", {"gen_ai.event.content": '{"message": {"content": "30 days."}}'}),
        ],
        read={**LLM, **TALK},
    ),
    Golden(
        name="events before version 1.28",
        attributes={"gen_ai.system": "openai", "gen_ai.response.finish_reasons": ("stop",)},
        events=[
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(
                [{"role": "user", "content": "How long?"}])}),
            ("gen_ai.content.completion", {"gen_ai.completion": json.dumps(
                [{"role": "assistant", "content": "30 days."}])}),
        ],
        read={"kind": Kind.LLM, "convention": "OpenLLMetry", **TALK, "input": "How long?"},
    ),
    Golden(
        name="evicted events leave the conversation incomplete",
        attributes={OPERATION: "chat"},
        events=[("gen_ai.choice", {"message": {"content": "30 days."}})],
        dropped_events=4,
        read={**LLM, "output": "30 days.", "is_truncated": True},
    ),
    Golden(
        name="an evicted operation is told by the span's name",
        span="chat m-1",
        attributes={"gen_ai.response.model": "m-1"},
        dropped_attributes=9,
        read={**LLM, "model": "m-1", "is_truncated": True},
    ),
    Golden(
        name="an evicted agent is not taken for the generation whose messages it has",
        span="invoke_agent support",
        attributes={"gen_ai.output.messages": json.dumps(SAID)},
        dropped_attributes=9,
        read={"kind": Kind.AGENT, **NAME, "output": "30 days."},
    ),
    Golden(
        name="cut messages",
        attributes={OPERATION: "chat", "gen_ai.output.messages": json.dumps(SAID)[:90]},
        read={**LLM, "is_truncated": True},
    ),
    Golden(
        name="no content captured is neither redacted nor truncated",
        attributes={OPERATION: "chat", "gen_ai.request.model": "m"},
        read={**LLM, "model": "m"},
    ),
)  # fmt: skip
