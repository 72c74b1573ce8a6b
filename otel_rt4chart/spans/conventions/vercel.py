"""Vercel's AI SDK: the outer span is the call of the application, `.do…` the model's own."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    GENERATION,
    RERANKING,
    TOOL,
    Convention,
    Shape,
    Source,
)
from otel_rt4chart.spans.model.view import Kind

OPERATIONS = {
    "ai.generatetext": Kind.CHAIN,
    "ai.streamtext": Kind.CHAIN,
    "ai.generateobject": Kind.CHAIN,
    "ai.streamobject": Kind.CHAIN,
    "ai.generatetext.dogenerate": Kind.LLM,
    "ai.streamtext.dostream": Kind.LLM,
    "ai.generateobject.dogenerate": Kind.LLM,
    "ai.streamobject.dostream": Kind.LLM,
    "ai.toolcall": Kind.TOOL,
    "ai.embed": Kind.EMBEDDING,
    "ai.embedmany": Kind.EMBEDDING,
    "ai.embed.doembed": Kind.EMBEDDING,
    "ai.embedmany.doembed": Kind.EMBEDDING,
    "ai.rerank": Kind.RERANKER,
    "ai.rerank.dorerank": Kind.RERANKER,
}

VERCEL = Convention(
    name="Vercel AI SDK",
    source="https://ai-sdk.dev/docs/ai-sdk-core/telemetry",
    kinds={"ai.operationId": OPERATIONS},
    hints=(("ai.toolCall.name", Kind.TOOL), ("ai.prompt.messages", Kind.LLM)),
    names=(
        ("ai.generateText.doGenerate", Kind.LLM),
        ("ai.streamText.doStream", Kind.LLM),
        ("ai.generateObject.doGenerate", Kind.LLM),
        ("ai.streamObject.doStream", Kind.LLM),
        ("ai.toolCall", Kind.TOOL),
        ("ai.generate", Kind.CHAIN),
        ("ai.stream", Kind.CHAIN),
    ),
    input=(
        Source("ai.toolCall.args", Shape.WHOLE, TOOL),
        Source("ai.prompt", Shape.WHOLE, is_last=True),
    ),
    output=(
        Source("ai.response.text"),
        Source("ai.result.text"),
        Source("ai.response.object"),
        Source("ai.result.object"),
        Source("ai.response.toolCalls", Shape.CALLS, GENERATION),
        Source("ai.result.toolCalls", Shape.CALLS, GENERATION),
        Source("ai.toolCall.result", Shape.WHOLE, TOOL),
    ),
    prompt=(
        Source("ai.prompt.messages", Shape.MESSAGES, GENERATION),
        Source("ai.prompt", Shape.MESSAGES, GENERATION, is_last=True),
    ),
    documents=(
        Source("ai.toolCall.result", Shape.DOCUMENTS, TOOL),
        Source("ai.ranking", Shape.DOCUMENTS, RERANKING),
    ),
    model=(Source("ai.response.model"), Source("ai.model.id")),
    session=(Source("ai.telemetry.metadata.sessionId"),),
)
