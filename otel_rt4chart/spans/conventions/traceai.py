"""traceAI (Future AGI): OpenInference's shapes, partly under OpenTelemetry's names."""

from __future__ import annotations

from collections.abc import Mapping

from otel_rt4chart.spans.conventions.convention import (
    RERANKER_KINDS,
    RETRIEVER_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.conventions.openinference import SPAN_KINDS
from otel_rt4chart.spans.model.span_view import OperationKind

SPAN_KINDS = SPAN_KINDS | {
    "conversation": OperationKind.CHAIN,
    "vector_db": OperationKind.RETRIEVER,
    "a2a_client": OperationKind.AGENT,
    "a2a_server": OperationKind.AGENT,
}

REQUEST_PARAMETERS, MODEL = "gen_ai.request.parameters", "gen_ai.request.parameters.model"


def model_parameter(value: object, _: Mapping[str, object]) -> Mapping[str, object]:
    """The model among the request parameters: a streamed answer has it nowhere else."""
    return {MODEL: value["model"]} if isinstance(value, Mapping) and "model" in value else {}


# Only what differs from OpenInference and OpenTelemetry; their tables are read too.
TRACEAI = Convention(
    name="traceAI",
    source="https://github.com/future-agi/traceAI/blob/main/python/fi_instrumentation/fi_types.py",
    kinds={"gen_ai.span.kind": SPAN_KINDS, "fi.span.kind": SPAN_KINDS},
    hints=(
        ("gen_ai.retrieval.query", OperationKind.RETRIEVER),
        ("gen_ai.reranker.output_documents", OperationKind.RERANKER),
        ("gen_ai.reranker.input_documents", OperationKind.RERANKER),
    ),
    derived={REQUEST_PARAMETERS: model_parameter},
    input=(
        AttributeSource("gen_ai.retrieval.query", kinds=RETRIEVER_KINDS),
        AttributeSource("gen_ai.reranker.query", kinds=RERANKER_KINDS),
    ),
    documents=(
        AttributeSource("gen_ai.reranker.output_documents", ValueShape.DOCUMENTS, RERANKER_KINDS),
    ),
    input_documents=(
        AttributeSource("gen_ai.reranker.input_documents", ValueShape.DOCUMENTS, RERANKER_KINDS),
    ),
    variables=(AttributeSource("gen_ai.prompt.template.variables", ValueShape.VARIABLES),),
    model=(AttributeSource(MODEL, is_last=True),),
    prompt_version=(AttributeSource("gen_ai.prompt.template.version"),),
)
