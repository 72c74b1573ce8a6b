"""traceAI (Future AGI): OpenInference's shapes, in part under OpenTelemetry's names."""

from __future__ import annotations

from collections.abc import Mapping

from otel_rt4chart.spans.conventions.convention import (
    RERANKING,
    RETRIEVAL,
    Convention,
    Shape,
    Source,
)
from otel_rt4chart.spans.conventions.openinference import KINDS
from otel_rt4chart.spans.model.view import Kind

VALUES = KINDS | {
    "conversation": Kind.CHAIN,
    "vector_db": Kind.RETRIEVER,
    "a2a_client": Kind.AGENT,
    "a2a_server": Kind.AGENT,
}

PARAMETERS, MODEL = "gen_ai.request.parameters", "gen_ai.request.parameters.model"


def model_of(value: object) -> Mapping[str, object]:
    """The model among a request's parameters: of a streamed answer it stands nowhere else."""
    return {MODEL: value["model"]} if isinstance(value, Mapping) and "model" in value else {}


# What it has in common with OpenInference and OpenTelemetry stands in their tables.
TRACEAI = Convention(
    name="traceAI",
    source="https://github.com/future-agi/traceAI/blob/main/python/fi_instrumentation/fi_types.py",
    kinds={"gen_ai.span.kind": VALUES, "fi.span.kind": VALUES},
    hints=(
        ("gen_ai.retrieval.query", Kind.RETRIEVER),
        ("gen_ai.reranker.output_documents", Kind.RERANKER),
        ("gen_ai.reranker.input_documents", Kind.RERANKER),
    ),
    derived={PARAMETERS: model_of},
    input=(
        Source("gen_ai.retrieval.query", kinds=RETRIEVAL),
        Source("gen_ai.reranker.query", kinds=RERANKING),
    ),
    documents=(Source("gen_ai.reranker.output_documents", Shape.DOCUMENTS, RERANKING),),
    given=(Source("gen_ai.reranker.input_documents", Shape.DOCUMENTS, RERANKING),),
    variables=(Source("gen_ai.prompt.template.variables", Shape.VARIABLES),),
    model=(Source(MODEL, is_last=True),),
    prompt_version=(Source("gen_ai.prompt.template.version"),),
)
