"""OpenLLMetry (Traceloop): two generations of names are live at once."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import FOUND, GENERATION, Convention, Shape, Source
from otel_rt4chart.spans.model.view import Kind

ENTITY_INPUT, ENTITY_OUTPUT = "traceloop.entity.input", "traceloop.entity.output"

OPENLLMETRY = Convention(
    name="OpenLLMetry",
    source="https://github.com/traceloop/openllmetry/tree/main/packages/"
    "opentelemetry-semantic-conventions-ai",
    kinds={
        "gen_ai.operation.name": {"vector_db_retrieve": Kind.RETRIEVER},
        "traceloop.span.kind": {
            "workflow": Kind.CHAIN,
            "task": Kind.CHAIN,
            "agent": Kind.AGENT,
            "tool": Kind.TOOL,
        },
        "llm.request.type": {
            "chat": Kind.LLM,
            "completion": Kind.LLM,
            "embedding": Kind.EMBEDDING,
            "rerank": Kind.RERANKER,
        },
    },
    vague=frozenset({"workflow", "task"}),
    hints=(("gen_ai.completion", Kind.LLM), ("gen_ai.prompt", Kind.LLM)),
    names=(("vector_db_retrieve", Kind.RETRIEVER),),
    input=(
        Source(ENTITY_INPUT, Shape.JSON, is_last=True),
        Source("gen_ai.task.input", Shape.JSON, is_last=True),
    ),
    output=(
        Source("gen_ai.completion", Shape.MESSAGES, GENERATION),
        Source(ENTITY_OUTPUT, Shape.JSON, is_last=True),
        Source("gen_ai.task.output", Shape.JSON, is_last=True),
    ),
    # Cohere's `documents` stand among the prompts, in the role of the system.
    prompt=(Source("gen_ai.prompt", Shape.MESSAGES, GENERATION),),
    documents=(
        Source(ENTITY_OUTPUT, Shape.DOCUMENTS, FOUND),
        Source("gen_ai.task.output", Shape.DOCUMENTS, FOUND),
        Source("gen_ai.completion", Shape.DOCUMENTS, FOUND, is_last=True),
    ),
    variables=(Source("traceloop.prompt.template_variables", Shape.VARIABLES),),
    prompt_version=(Source("traceloop.prompt.version"),),
    session=(Source("traceloop.association.properties.session_id"),),
)
