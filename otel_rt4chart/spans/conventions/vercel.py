"""Vercel's AI SDK: the outer span is the application's call, `.do…` the call of the model."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    GENERATION_KINDS,
    RERANKER_KINDS,
    TOOL_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

OPERATIONS = {
    "ai.generatetext": OperationKind.CHAIN,
    "ai.streamtext": OperationKind.CHAIN,
    "ai.generateobject": OperationKind.CHAIN,
    "ai.streamobject": OperationKind.CHAIN,
    "ai.generatetext.dogenerate": OperationKind.LLM,
    "ai.streamtext.dostream": OperationKind.LLM,
    "ai.generateobject.dogenerate": OperationKind.LLM,
    "ai.streamobject.dostream": OperationKind.LLM,
    "ai.toolcall": OperationKind.TOOL,
    "ai.embed": OperationKind.EMBEDDING,
    "ai.embedmany": OperationKind.EMBEDDING,
    "ai.embed.doembed": OperationKind.EMBEDDING,
    "ai.embedmany.doembed": OperationKind.EMBEDDING,
    "ai.rerank": OperationKind.RERANKER,
    "ai.rerank.dorerank": OperationKind.RERANKER,
}

VERCEL = Convention(
    name="Vercel AI SDK",
    source="https://ai-sdk.dev/docs/ai-sdk-core/telemetry",
    kinds={"ai.operationId": OPERATIONS},
    hints=(("ai.toolCall.name", OperationKind.TOOL), ("ai.prompt.messages", OperationKind.LLM)),
    names=(
        ("ai.generateText.doGenerate", OperationKind.LLM),
        ("ai.streamText.doStream", OperationKind.LLM),
        ("ai.generateObject.doGenerate", OperationKind.LLM),
        ("ai.streamObject.doStream", OperationKind.LLM),
        ("ai.toolCall", OperationKind.TOOL),
        ("ai.generate", OperationKind.CHAIN),
        ("ai.stream", OperationKind.CHAIN),
    ),
    input=(
        AttributeSource("ai.toolCall.args", ValueShape.WHOLE, TOOL_KINDS),
        AttributeSource("ai.prompt", ValueShape.WHOLE, is_last=True),
    ),
    output=(
        AttributeSource("ai.response.text"),
        AttributeSource("ai.result.text"),
        AttributeSource("ai.response.object"),
        AttributeSource("ai.result.object"),
        AttributeSource("ai.response.toolCalls", ValueShape.CALLS, GENERATION_KINDS),
        AttributeSource("ai.result.toolCalls", ValueShape.CALLS, GENERATION_KINDS),
        AttributeSource("ai.toolCall.result", ValueShape.WHOLE, TOOL_KINDS),
    ),
    prompt=(
        AttributeSource("ai.prompt.messages", ValueShape.MESSAGES, GENERATION_KINDS),
        AttributeSource("ai.prompt", ValueShape.MESSAGES, GENERATION_KINDS, is_last=True),
    ),
    documents=(
        AttributeSource("ai.toolCall.result", ValueShape.DOCUMENTS, TOOL_KINDS),
        AttributeSource("ai.ranking", ValueShape.DOCUMENTS, RERANKER_KINDS),
    ),
    model=(AttributeSource("ai.response.model"), AttributeSource("ai.model.id")),
    session=(AttributeSource("ai.telemetry.metadata.sessionId"),),
)
