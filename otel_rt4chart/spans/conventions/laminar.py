"""Laminar: a type of its own, inputs and outputs as JSON, GenAI's names beside them."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import FOUND, GENERATION, Convention, Shape, Source
from otel_rt4chart.spans.model.view import Kind

INPUT, OUTPUT = "lmnr.span.input", "lmnr.span.output"

TYPES = {
    "llm": Kind.LLM,
    "tool": Kind.TOOL,
    "evaluator": Kind.EVALUATOR,
    "human_evaluator": Kind.EVALUATOR,
    "evaluation": Kind.EVALUATOR,
}

LAMINAR = Convention(
    name="Laminar",
    source="https://github.com/lmnr-ai/lmnr-python/blob/main/src/lmnr/opentelemetry_lib/tracing/"
    "attributes.py",
    # Of a call that was answered from a cache the type is `CACHED`.
    kinds={"lmnr.span.type": TYPES, "lmnr.span.original_type": TYPES},
    input=(Source(INPUT, Shape.JSON, is_last=True),),
    output=(Source(OUTPUT, Shape.JSON, is_last=True),),
    prompt=(Source(INPUT, Shape.MESSAGES, GENERATION, is_last=True),),
    documents=(Source(OUTPUT, Shape.DOCUMENTS, FOUND),),
    session=(Source("lmnr.association.properties.session_id"),),
)
