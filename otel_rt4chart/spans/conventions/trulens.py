"""TruLens: contexts are lists of texts without ids."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    DOCUMENT_KINDS,
    GENERATION_KINDS,
    RERANKER_KINDS,
    RETRIEVER_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

BASE = "ai.observability"

TRULENS = Convention(
    name="TruLens",
    source="https://github.com/truera/trulens/blob/main/src/otel/semconv/trulens/otel/semconv/"
    "trace.py",
    kinds={
        f"{BASE}.span_type": {
            "record_root": OperationKind.CHAIN,
            "workflow_step": OperationKind.CHAIN,
            "retrieval": OperationKind.RETRIEVER,
            "reranking": OperationKind.RERANKER,
            "generation": OperationKind.LLM,
            "agent": OperationKind.AGENT,
            "tool": OperationKind.TOOL,
            "mcp": OperationKind.TOOL,
            "eval": OperationKind.EVALUATOR,
            "eval_root": OperationKind.EVALUATOR,
            "eval_decision": OperationKind.EVALUATOR,
        }
    },
    hints=(
        (f"{BASE}.retrieval.retrieved_contexts", OperationKind.RETRIEVER),
        (f"{BASE}.reranking.output_context_texts", OperationKind.RERANKER),
    ),
    input=(
        AttributeSource(f"{BASE}.retrieval.query_text", kinds=RETRIEVER_KINDS),
        AttributeSource(f"{BASE}.reranking.query_text", kinds=RERANKER_KINDS),
        AttributeSource(f"{BASE}.record_root.input", ValueShape.WHOLE),
    ),
    output=(
        AttributeSource(f"{BASE}.record_root.output", ValueShape.WHOLE),
        AttributeSource(f"{BASE}.call.return", ValueShape.WHOLE, is_last=True),
    ),
    prompt=(
        AttributeSource(f"{BASE}.call.kwargs.messages", ValueShape.MESSAGES, GENERATION_KINDS),
    ),
    documents=(
        AttributeSource(
            f"{BASE}.retrieval.retrieved_contexts", ValueShape.DOCUMENTS, RETRIEVER_KINDS
        ),
        AttributeSource(
            f"{BASE}.reranking.output_context_texts", ValueShape.DOCUMENTS, RERANKER_KINDS
        ),
        AttributeSource(f"{BASE}.call.return", ValueShape.DOCUMENTS, DOCUMENT_KINDS, is_last=True),
    ),
    input_documents=(
        AttributeSource(
            f"{BASE}.reranking.input_context_texts", ValueShape.DOCUMENTS, RERANKER_KINDS
        ),
    ),
    session=(AttributeSource(f"{BASE}.session_id"),),
)
