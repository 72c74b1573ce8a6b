"""OpenTelemetry's GenAI conventions, with the events of version 1.36 and earlier."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    GENERATION,
    RETRIEVAL,
    TOOL,
    Convention,
    Event,
    Shape,
    Source,
)
from otel_rt4chart.spans.model.view import Kind

# Messages that were events of their own: gathered in lists that no attribute is named like.
PROMPT_EVENTS, CHOICE_EVENTS = "gen_ai.events.prompt", "gen_ai.events.choice"
# Azure's client writes the body of an event as JSON.
BODY = "gen_ai.event.content"

GENAI = Convention(
    name="OpenTelemetry GenAI",
    source="https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai",
    kinds={
        "gen_ai.operation.name": {
            "chat": Kind.LLM,
            "generate_content": Kind.LLM,
            "text_completion": Kind.LLM,
            "embeddings": Kind.EMBEDDING,
            "retrieval": Kind.RETRIEVER,
            "search_memory": Kind.RETRIEVER,
            "execute_tool": Kind.TOOL,
            "invoke_agent": Kind.AGENT,
            "invoke_workflow": Kind.CHAIN,
            "evaluation": Kind.EVALUATOR,
        }
    },
    hints=(
        ("gen_ai.retrieval.documents", Kind.RETRIEVER),
        ("gen_ai.retrieval.query.text", Kind.RETRIEVER),
        ("gen_ai.tool.call.result", Kind.TOOL),
        ("gen_ai.tool.call.arguments", Kind.TOOL),
        ("gen_ai.output.messages", Kind.LLM),
        ("gen_ai.input.messages", Kind.LLM),
        (CHOICE_EVENTS, Kind.LLM),
        ("gen_ai.response.finish_reasons", Kind.LLM),
    ),
    names=(
        ("chat ", Kind.LLM),
        ("generate_content ", Kind.LLM),
        ("text_completion ", Kind.LLM),
        ("embeddings ", Kind.EMBEDDING),
        ("retrieval ", Kind.RETRIEVER),
        ("execute_tool ", Kind.TOOL),
        ("invoke_agent", Kind.AGENT),
        ("invoke_workflow", Kind.CHAIN),
    ),
    events={
        "gen_ai.client.inference.operation.details": Event(),
        "gen_ai.content.prompt": Event(),
        "gen_ai.content.completion": Event(),
        "gen_ai.system.message": Event(PROMPT_EVENTS, role="system", body=BODY),
        "gen_ai.user.message": Event(PROMPT_EVENTS, role="user", body=BODY),
        "gen_ai.assistant.message": Event(PROMPT_EVENTS, role="assistant", body=BODY),
        "gen_ai.tool.message": Event(PROMPT_EVENTS, role="tool", body=BODY),
        "gen_ai.choice": Event(CHOICE_EVENTS, role="assistant", body=BODY),
    },
    input=(
        Source("gen_ai.retrieval.query.text", kinds=RETRIEVAL),
        Source("gen_ai.tool.call.arguments", Shape.WHOLE, TOOL),
    ),
    output=(
        Source("gen_ai.output.messages", Shape.MESSAGES),
        Source(CHOICE_EVENTS, Shape.MESSAGES),
        Source("gen_ai.tool.call.result", Shape.WHOLE, TOOL),
    ),
    system=(Source("gen_ai.system_instructions", Shape.MESSAGES, GENERATION, role="system"),),
    prompt=(
        Source("gen_ai.input.messages", Shape.MESSAGES, GENERATION),
        Source(PROMPT_EVENTS, Shape.MESSAGES, GENERATION),
    ),
    documents=(
        Source("gen_ai.retrieval.documents", Shape.DOCUMENTS, RETRIEVAL),
        Source("gen_ai.tool.call.result", Shape.DOCUMENTS, TOOL),
    ),
    model=(Source("gen_ai.response.model"), Source("gen_ai.request.model")),
    session=(Source("gen_ai.conversation.id"),),
    datastore={"gen_ai.tool.type": "datastore"},
)
