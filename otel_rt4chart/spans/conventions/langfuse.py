"""Langfuse: an observation has a type, an input and an output, and documents have no shape."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import FOUND, GENERATION, Convention, Shape, Source
from otel_rt4chart.spans.model.view import Kind

INPUT, OUTPUT = "langfuse.observation.input", "langfuse.observation.output"

LANGFUSE = Convention(
    name="Langfuse",
    source="https://github.com/langfuse/langfuse-python/blob/main/langfuse/_client/attributes.py",
    kinds={
        "langfuse.observation.type": {
            "generation": Kind.LLM,
            "retriever": Kind.RETRIEVER,
            "tool": Kind.TOOL,
            "chain": Kind.CHAIN,
            "agent": Kind.AGENT,
            "embedding": Kind.EMBEDDING,
            "guardrail": Kind.GUARDRAIL,
            "evaluator": Kind.EVALUATOR,
            "span": Kind.CHAIN,
        }
    },
    vague=frozenset({"span"}),
    placeholders=("<fully masked due to failed mask function>",),
    input=(
        Source(INPUT, Shape.WHOLE, is_last=True),
        Source("langfuse.trace.input", Shape.WHOLE, is_last=True),
    ),
    output=(
        Source(OUTPUT, Shape.WHOLE, is_last=True),
        Source("langfuse.trace.output", Shape.WHOLE, is_last=True),
    ),
    prompt=(Source(INPUT, Shape.MESSAGES, GENERATION, is_last=True),),
    documents=(Source(OUTPUT, Shape.DOCUMENTS, FOUND),),
    model=(Source("langfuse.observation.model.name"),),
    prompt_version=(Source("langfuse.observation.prompt.version"),),
    session=(Source("langfuse.session.id"),),
)
