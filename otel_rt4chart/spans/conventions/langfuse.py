"""Langfuse: observations with a type, an input and an output; documents in any shape."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    DOCUMENT_KINDS,
    GENERATION_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

INPUT, OUTPUT = "langfuse.observation.input", "langfuse.observation.output"

LANGFUSE = Convention(
    name="Langfuse",
    source="https://github.com/langfuse/langfuse-python/blob/main/langfuse/_client/attributes.py",
    kinds={
        "langfuse.observation.type": {
            "generation": OperationKind.LLM,
            "retriever": OperationKind.RETRIEVER,
            "tool": OperationKind.TOOL,
            "chain": OperationKind.CHAIN,
            "agent": OperationKind.AGENT,
            "embedding": OperationKind.EMBEDDING,
            "guardrail": OperationKind.GUARDRAIL,
            "evaluator": OperationKind.EVALUATOR,
            "span": OperationKind.CHAIN,
        }
    },
    vague=frozenset({"span"}),
    placeholders=("<fully masked due to failed mask function>",),
    input=(
        AttributeSource(INPUT, ValueShape.WHOLE, is_last=True),
        AttributeSource("langfuse.trace.input", ValueShape.WHOLE, is_last=True),
    ),
    output=(
        AttributeSource(OUTPUT, ValueShape.WHOLE, is_last=True),
        AttributeSource("langfuse.trace.output", ValueShape.WHOLE, is_last=True),
    ),
    prompt=(AttributeSource(INPUT, ValueShape.MESSAGES, GENERATION_KINDS, is_last=True),),
    documents=(AttributeSource(OUTPUT, ValueShape.DOCUMENTS, DOCUMENT_KINDS),),
    model=(AttributeSource("langfuse.observation.model.name"),),
    prompt_version=(AttributeSource("langfuse.observation.prompt.version"),),
    session=(AttributeSource("langfuse.session.id"),),
)
