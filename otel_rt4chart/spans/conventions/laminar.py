"""Laminar: its own span types, inputs and outputs as JSON, otherwise GenAI's names."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    DOCUMENT_KINDS,
    GENERATION_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

INPUT, OUTPUT = "lmnr.span.input", "lmnr.span.output"

TYPES = {
    "llm": OperationKind.LLM,
    "tool": OperationKind.TOOL,
    "evaluator": OperationKind.EVALUATOR,
    "human_evaluator": OperationKind.EVALUATOR,
    "evaluation": OperationKind.EVALUATOR,
}

LAMINAR = Convention(
    name="Laminar",
    source="https://github.com/lmnr-ai/lmnr-python/blob/main/src/lmnr/opentelemetry_lib/tracing/"
    "attributes.py",
    # The type of a call that was answered from a cache is `CACHED`.
    kinds={"lmnr.span.type": TYPES, "lmnr.span.original_type": TYPES},
    input=(AttributeSource(INPUT, ValueShape.JSON, is_last=True),),
    output=(AttributeSource(OUTPUT, ValueShape.JSON, is_last=True),),
    prompt=(AttributeSource(INPUT, ValueShape.MESSAGES, GENERATION_KINDS, is_last=True),),
    documents=(AttributeSource(OUTPUT, ValueShape.DOCUMENTS, DOCUMENT_KINDS),),
    session=(AttributeSource("lmnr.association.properties.session_id"),),
)
