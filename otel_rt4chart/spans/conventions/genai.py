"""OpenTelemetry's GenAI conventions, including the events of version 1.36 and earlier."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    GENERATION_KINDS,
    RETRIEVER_KINDS,
    TOOL_KINDS,
    AttributeSource,
    Convention,
    EventMapping,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

# Messages that are events, collected in lists. No real attribute has these names.
PROMPT_EVENTS, CHOICE_EVENTS = "gen_ai.events.prompt", "gen_ai.events.choice"
# Azure's client writes the body of an event as JSON into this attribute.
BODY = "gen_ai.event.content"

GENAI = Convention(
    name="OpenTelemetry GenAI",
    source="https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai",
    kinds={
        "gen_ai.operation.name": {
            "chat": OperationKind.LLM,
            "generate_content": OperationKind.LLM,
            "text_completion": OperationKind.LLM,
            "embeddings": OperationKind.EMBEDDING,
            "retrieval": OperationKind.RETRIEVER,
            "search_memory": OperationKind.RETRIEVER,
            "execute_tool": OperationKind.TOOL,
            "invoke_agent": OperationKind.AGENT,
            "invoke_workflow": OperationKind.CHAIN,
            "evaluation": OperationKind.EVALUATOR,
        }
    },
    hints=(
        ("gen_ai.retrieval.documents", OperationKind.RETRIEVER),
        ("gen_ai.retrieval.query.text", OperationKind.RETRIEVER),
        ("gen_ai.tool.call.result", OperationKind.TOOL),
        ("gen_ai.tool.call.arguments", OperationKind.TOOL),
        ("gen_ai.output.messages", OperationKind.LLM),
        ("gen_ai.input.messages", OperationKind.LLM),
        (CHOICE_EVENTS, OperationKind.LLM),
        ("gen_ai.response.finish_reasons", OperationKind.LLM),
    ),
    names=(
        ("chat ", OperationKind.LLM),
        ("generate_content ", OperationKind.LLM),
        ("text_completion ", OperationKind.LLM),
        ("embeddings ", OperationKind.EMBEDDING),
        ("retrieval ", OperationKind.RETRIEVER),
        ("execute_tool ", OperationKind.TOOL),
        ("invoke_agent", OperationKind.AGENT),
        ("invoke_workflow", OperationKind.CHAIN),
    ),
    events={
        "gen_ai.client.inference.operation.details": EventMapping(),
        "gen_ai.content.prompt": EventMapping(),
        "gen_ai.content.completion": EventMapping(),
        "gen_ai.system.message": EventMapping(PROMPT_EVENTS, role="system", body=BODY),
        "gen_ai.user.message": EventMapping(PROMPT_EVENTS, role="user", body=BODY),
        "gen_ai.assistant.message": EventMapping(PROMPT_EVENTS, role="assistant", body=BODY),
        "gen_ai.tool.message": EventMapping(PROMPT_EVENTS, role="tool", body=BODY),
        "gen_ai.choice": EventMapping(CHOICE_EVENTS, role="assistant", body=BODY),
    },
    input=(
        AttributeSource("gen_ai.retrieval.query.text", kinds=RETRIEVER_KINDS),
        AttributeSource("gen_ai.tool.call.arguments", ValueShape.WHOLE, TOOL_KINDS),
    ),
    output=(
        AttributeSource("gen_ai.output.messages", ValueShape.MESSAGES),
        AttributeSource(CHOICE_EVENTS, ValueShape.MESSAGES),
        AttributeSource("gen_ai.tool.call.result", ValueShape.WHOLE, TOOL_KINDS),
    ),
    system=(
        AttributeSource(
            "gen_ai.system_instructions", ValueShape.MESSAGES, GENERATION_KINDS, role="system"
        ),
    ),
    prompt=(
        AttributeSource("gen_ai.input.messages", ValueShape.MESSAGES, GENERATION_KINDS),
        AttributeSource(PROMPT_EVENTS, ValueShape.MESSAGES, GENERATION_KINDS),
    ),
    documents=(
        AttributeSource("gen_ai.retrieval.documents", ValueShape.DOCUMENTS, RETRIEVER_KINDS),
        AttributeSource("gen_ai.tool.call.result", ValueShape.DOCUMENTS, TOOL_KINDS),
    ),
    model=(AttributeSource("gen_ai.response.model"), AttributeSource("gen_ai.request.model")),
    session=(AttributeSource("gen_ai.conversation.id"),),
    datastore={"gen_ai.tool.type": "datastore"},
)
