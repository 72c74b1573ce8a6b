"""Spans of products with names of their own."""

from __future__ import annotations

import json

from otel_rt4chart.spans.model.span_view import OperationKind as Kind
from tests.otel_rt4chart.spans.conventions.golden.case import Golden, doc, system, user

ASK = {"prompt": (user("How long?"),)}
TALK = {**ASK, "output": "30 days."}
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How long?"}]
ASKED_READ = {"prompt": (system("Be brief."), user("How long?")), "output": "30 days."}
SAID = {"role": "assistant", "content": "30 days."}
HITS = [{"page_content": "14 days.", "metadata": {"p": 1}, "id": "a"}]
TYPE = "langfuse.observation.type"
IN, OUT = "langfuse.observation.input", "langfuse.observation.output"
SPAN = "ai.observability."


def of(name: str, kind: Kind, **more: object) -> dict[str, object]:
    """The fields that are read: the convention, the kind, and more."""
    return {"convention": name, "kind": kind, **more}


LANGFUSE = (
    Golden(
        name="a generation of Langfuse",
        attributes={TYPE: "generation", IN: json.dumps(ASKED), OUT: json.dumps(SAID),
                    "langfuse.observation.model.name": "m-1", "session.id": "s1",
                    "langfuse.observation.prompt.version": 3},
        read=of("Langfuse", Kind.LLM, input="How long?", **ASKED_READ, model="m-1", session="s1",
                prompt_version="3"),
    ),
    Golden(
        name="a retriever of Langfuse",
        attributes={TYPE: "retriever", IN: "How long?", OUT: json.dumps(HITS)},
        read=of("Langfuse", Kind.RETRIEVER, input="How long?", output=json.dumps(HITS),
                documents=(doc("14 days.", "a", p=1),)),
    ),
    Golden(
        name="the root of a trace",
        attributes={TYPE: "span", "langfuse.trace.input": '{"question": "How long?"}',
                    "langfuse.trace.output": "30 days."},
        read=of("Langfuse", Kind.CHAIN, input="How long?", output="30 days."),
    ),
    Golden(
        name="a span of both conventions is read once",
        attributes={TYPE: "span", OUT: "30 days.", "openinference.span.kind": "LLM",
                    "llm.output_messages.0.message.content": "30 days.",
                    "output.value": '{"x": "30 days."}'},
        read=of("OpenInference", Kind.LLM, output="30 days."),
    ),
    Golden(
        name="a masked answer",
        attributes={TYPE: "generation", OUT: "<fully masked due to failed mask function>"},
        read=of("Langfuse", Kind.LLM, is_redacted=True),
    ),
    *(
        Golden(name=f"{value} of Langfuse", attributes={TYPE: value}, read=of("Langfuse", kind))
        for value, kind in (("tool", Kind.TOOL), ("chain", Kind.CHAIN), ("agent", Kind.AGENT),
                            ("embedding", Kind.EMBEDDING), ("guardrail", Kind.GUARDRAIL),
                            ("evaluator", Kind.EVALUATOR))
    ),
)  # fmt: skip

VERCEL = (
    Golden(
        name="Vercel's call of the application",
        span="ai.generateText",
        attributes={"ai.operationId": "ai.generateText",
                    "ai.prompt": '{"system": "Be brief.", "prompt": "How long?"}',
                    "ai.response.text": "30 days.", "ai.telemetry.metadata.sessionId": "s1"},
        read=of("Vercel AI SDK", Kind.CHAIN, input="How long?", output="30 days.", session="s1"),
    ),
    Golden(
        name="Vercel's call of the model",
        span="ai.streamText.doStream",
        attributes={"ai.operationId": "ai.streamText.doStream", "ai.response.text": "30 days.",
                    "ai.prompt.messages": json.dumps(
                        [{"role": "user", "content": [{"type": "text", "text": "How long?"}]}]),
                    "ai.model.id": "m", "gen_ai.operation.name": "chat"},
        read=of("Vercel AI SDK", Kind.LLM, **TALK, model="m"),
    ),
    Golden(
        name="Vercel's older text of the answer",
        attributes={"ai.operationId": "ai.generateText.doGenerate", "ai.result.text": "30 days."},
        read=of("Vercel AI SDK", Kind.LLM, output="30 days."),
    ),
    Golden(
        name="Vercel's object as the answer",
        attributes={"ai.operationId": "ai.generateObject.doGenerate",
                    "ai.response.object": '{"days": 30}'},
        read=of("Vercel AI SDK", Kind.LLM, output='{"days": 30}'),
    ),
    Golden(
        name="Vercel's model calls a tool",
        attributes={"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "",
                    "ai.response.toolCalls": '[{"toolCallId": "c", "toolName": "search"}]'},
        read=of("Vercel AI SDK", Kind.LLM, calls_tools_only=True),
    ),
    Golden(
        name="Vercel's tool",
        attributes={"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search",
                    "ai.toolCall.args": '{"query": "trial"}', "ai.toolCall.result": '"14 days."'},
        read=of("Vercel AI SDK", Kind.TOOL, input="trial", output="14 days.",
                documents=(doc("14 days."),)),
    ),
    Golden(
        name="Vercel's evicted operation",
        span="ai.generateText.doGenerate",
        attributes={"ai.response.text": "30 days."},
        dropped_attributes=2,
        read=of("Vercel AI SDK", Kind.LLM, output="30 days.", is_truncated=True),
    ),
)  # fmt: skip

OTHERS = (
    Golden(
        name="a generation of LangSmith",
        attributes={"langsmith.span.kind": "llm", "langsmith.trace.session_id": "s1",
                    "gen_ai.prompt": json.dumps({"messages": ASKED}),
                    "gen_ai.completion": json.dumps({"choices": [{"message": SAID}]})},
        read=of("LangSmith", Kind.LLM, input="How long?", **ASKED_READ, session="s1"),
    ),
    Golden(
        name="a generation of LangSmith, flattened",
        attributes={"langsmith.span.kind": "llm", "gen_ai.prompt.0.message.role": "user",
                    "gen_ai.prompt.0.message.content": "How long?",
                    "gen_ai.completion.0.message.content": "30 days."},
        read=of("LangSmith", Kind.LLM, input="How long?", **TALK),
    ),
    Golden(
        name="a retriever of LangSmith",
        attributes={"langsmith.span.kind": "retriever", "gen_ai.prompt": '{"query": "How long?"}',
                    "gen_ai.completion": json.dumps({"documents": HITS})},
        read=of("LangSmith", Kind.RETRIEVER, input="How long?",
                output=json.dumps({"documents": HITS}), documents=(doc("14 days.", "a", p=1),)),
    ),
    *(
        Golden(name=f"{value} of LangSmith", attributes={"langsmith.span.kind": value},
               read=of("LangSmith", kind))
        for value, kind in (("chain", Kind.CHAIN), ("tool", Kind.TOOL), ("prompt", Kind.PROMPT),
                            ("embedding", Kind.EMBEDDING), ("parser", Kind.CHAIN))
    ),
    Golden(
        name="a retrieval of TruLens",
        attributes={SPAN + "span_type": "retrieval", SPAN + "retrieval.query_text": "How long?",
                    SPAN + "retrieval.retrieved_contexts": ("14 days.", "Free.")},
        read=of("TruLens", Kind.RETRIEVER, input="How long?",
                documents=(doc("14 days."), doc("Free."))),
    ),
    Golden(
        name="a reranking of TruLens",
        attributes={SPAN + "span_type": "reranking",
                    SPAN + "reranking.output_context_texts": ("14 days.",)},
        read=of("TruLens", Kind.RERANKER, documents=(doc("14 days."),)),
    ),
    Golden(
        name="the root of a record of TruLens",
        attributes={SPAN + "span_type": "record_root", SPAN + "record_root.input": "How long?",
                    SPAN + "record_root.output": "30 days."},
        read=of("TruLens", Kind.CHAIN, input="How long?", output="30 days."),
    ),
    Golden(
        name="a generation of TruLens",
        attributes={SPAN + "span_type": "generation", SPAN + "call.return": "30 days."},
        read=of("TruLens", Kind.LLM, output="30 days."),
    ),
    *(
        Golden(name=f"{value} of TruLens", attributes={SPAN + "span_type": value},
               read=of("TruLens", Kind.EVALUATOR))
        for value in ("eval_root", "eval", "eval_decision")
    ),
    Golden(
        name="a generation of MLflow",
        attributes={"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs":
                    json.dumps({"messages": ASKED, "model": "m"}), "mlflow.llm.model": '"m"',
                    "mlflow.spanOutputs": json.dumps({"choices": [{"message": SAID}]})},
        read=of("MLflow", Kind.LLM, input="How long?", model="m", **ASKED_READ),
    ),
    Golden(
        name="a retriever of MLflow",
        attributes={"mlflow.spanType": '"RETRIEVER"', "mlflow.spanInputs": '{"query": "How?"}',
                    "mlflow.spanOutputs": json.dumps(HITS)},
        read=of("MLflow", Kind.RETRIEVER, input="How?", output=json.dumps(HITS),
                documents=(doc("14 days.", "a", p=1),)),
    ),
    Golden(
        name="a run of Pydantic AI",
        span="agent run",
        scope="pydantic-ai",
        attributes={"agent_name": "a", "final_result": "30 days.", "pydantic_ai.all_messages":
                    json.dumps([{"role": "user", "parts": [{"type": "text",
                                                            "content": "How long?"}]}])},
        read=of("Pydantic AI and Logfire", Kind.AGENT, input="How long?", output="30 days."),
    ),
    Golden(
        name="a generation of Pydantic AI, events in an attribute",
        scope="pydantic-ai",
        attributes={"gen_ai.operation.name": "chat", "events": json.dumps(
            [{"event.name": "gen_ai.user.message", "content": "How long?", "role": "user"},
             {"event.name": "gen_ai.choice", "index": 0, "message": SAID}])},
        read=of("OpenTelemetry GenAI", Kind.LLM, **TALK),
    ),
    Golden(
        name="a tool of Pydantic AI",
        span="running tool",
        scope="pydantic-ai",
        attributes={"gen_ai.tool.name": "search", "tool_arguments": '{"query": "trial"}',
                    "tool_response": "14 days."},
        read=of("Pydantic AI and Logfire", Kind.TOOL, input="trial", output="14 days.",
                documents=(doc("14 days."),)),
    ),
    Golden(
        name="a generation that Logfire traced, its answer scrubbed",
        scope="logfire.openai",
        attributes={"gen_ai.operation.name": "chat", "response_data": "[Scrubbed due to 'auth']",
                    "request_data": json.dumps({"messages": ASKED, "model": "m"})},
        read=of("OpenTelemetry GenAI", Kind.LLM, prompt=ASKED_READ["prompt"], is_redacted=True),
    ),
    Golden(
        name="attributes of the application that are called as Logfire's",
        attributes={"prompt": "no", "events": "[]", "response_data": "{}"},
        read={},
    ),
    Golden(
        name="a generation of Laminar",
        attributes={"lmnr.span.type": "LLM", "lmnr.span.input": json.dumps(ASKED),
                    "lmnr.span.output": '"30 days."',
                    "lmnr.association.properties.session_id": "s1"},
        read=of("Laminar", Kind.LLM, input="How long?", **ASKED_READ, session="s1"),
    ),
    Golden(
        name="a tool of Laminar, answered from a cache",
        attributes={"lmnr.span.type": "CACHED", "lmnr.span.original_type": "TOOL",
                    "lmnr.span.output": '{"days": 14}'},
        read=of("Laminar", Kind.TOOL, output='{"days": 14}', documents=(doc('{"days": 14}'),)),
    ),
    Golden(
        name="Laminar's plain span says its kind by what it holds",
        attributes={"lmnr.span.type": "DEFAULT", "gen_ai.completion.0.content": "30 days."},
        read=of("OpenLLMetry", Kind.LLM, output="30 days."),
    ),
)  # fmt: skip
CASES = (*LANGFUSE, *VERCEL, *OTHERS)
