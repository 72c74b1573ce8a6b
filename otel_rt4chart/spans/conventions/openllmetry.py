"""OpenLLMetry (Traceloop): two generations of names are in use."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    DOCUMENT_KINDS,
    GENERATION_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

ENTITY_INPUT, ENTITY_OUTPUT = "traceloop.entity.input", "traceloop.entity.output"

OPENLLMETRY = Convention(
    name="OpenLLMetry",
    source="https://github.com/traceloop/openllmetry/tree/main/packages/"
    "opentelemetry-semantic-conventions-ai",
    kinds={
        "gen_ai.operation.name": {"vector_db_retrieve": OperationKind.RETRIEVER},
        "traceloop.span.kind": {
            "workflow": OperationKind.CHAIN,
            "task": OperationKind.CHAIN,
            "agent": OperationKind.AGENT,
            "tool": OperationKind.TOOL,
        },
        "llm.request.type": {
            "chat": OperationKind.LLM,
            "completion": OperationKind.LLM,
            "embedding": OperationKind.EMBEDDING,
            "rerank": OperationKind.RERANKER,
        },
    },
    vague=frozenset({"workflow", "task"}),
    hints=(("gen_ai.completion", OperationKind.LLM), ("gen_ai.prompt", OperationKind.LLM)),
    names=(("vector_db_retrieve", OperationKind.RETRIEVER),),
    input=(
        AttributeSource(ENTITY_INPUT, ValueShape.JSON, is_last=True),
        AttributeSource("gen_ai.task.input", ValueShape.JSON, is_last=True),
    ),
    output=(
        AttributeSource("gen_ai.completion", ValueShape.MESSAGES, GENERATION_KINDS),
        AttributeSource(ENTITY_OUTPUT, ValueShape.JSON, is_last=True),
        AttributeSource("gen_ai.task.output", ValueShape.JSON, is_last=True),
    ),
    # Cohere's `documents` are prompts with the role `system`.
    prompt=(AttributeSource("gen_ai.prompt", ValueShape.MESSAGES, GENERATION_KINDS),),
    documents=(
        AttributeSource(ENTITY_OUTPUT, ValueShape.DOCUMENTS, DOCUMENT_KINDS),
        AttributeSource("gen_ai.task.output", ValueShape.DOCUMENTS, DOCUMENT_KINDS),
        AttributeSource("gen_ai.completion", ValueShape.DOCUMENTS, DOCUMENT_KINDS, is_last=True),
    ),
    variables=(AttributeSource("traceloop.prompt.template_variables", ValueShape.VARIABLES),),
    prompt_version=(AttributeSource("traceloop.prompt.version"),),
    session=(AttributeSource("traceloop.association.properties.session_id"),),
)
