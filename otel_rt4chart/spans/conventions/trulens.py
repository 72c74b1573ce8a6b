"""TruLens: contexts are lists of texts, without ids."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    FOUND,
    GENERATION,
    RERANKING,
    RETRIEVAL,
    Convention,
    Shape,
    Source,
)
from otel_rt4chart.spans.model.view import Kind

BASE = "ai.observability"

TRULENS = Convention(
    name="TruLens",
    source="https://github.com/truera/trulens/blob/main/src/otel/semconv/trulens/otel/semconv/"
    "trace.py",
    kinds={
        f"{BASE}.span_type": {
            "record_root": Kind.CHAIN,
            "workflow_step": Kind.CHAIN,
            "retrieval": Kind.RETRIEVER,
            "reranking": Kind.RERANKER,
            "generation": Kind.LLM,
            "agent": Kind.AGENT,
            "tool": Kind.TOOL,
            "mcp": Kind.TOOL,
            "eval": Kind.EVALUATOR,
            "eval_root": Kind.EVALUATOR,
            "eval_decision": Kind.EVALUATOR,
        }
    },
    hints=(
        (f"{BASE}.retrieval.retrieved_contexts", Kind.RETRIEVER),
        (f"{BASE}.reranking.output_context_texts", Kind.RERANKER),
    ),
    input=(
        Source(f"{BASE}.retrieval.query_text", kinds=RETRIEVAL),
        Source(f"{BASE}.reranking.query_text", kinds=RERANKING),
        Source(f"{BASE}.record_root.input", Shape.WHOLE),
    ),
    output=(
        Source(f"{BASE}.record_root.output", Shape.WHOLE),
        Source(f"{BASE}.call.return", Shape.WHOLE, is_last=True),
    ),
    prompt=(Source(f"{BASE}.call.kwargs.messages", Shape.MESSAGES, GENERATION),),
    documents=(
        Source(f"{BASE}.retrieval.retrieved_contexts", Shape.DOCUMENTS, RETRIEVAL),
        Source(f"{BASE}.reranking.output_context_texts", Shape.DOCUMENTS, RERANKING),
        Source(f"{BASE}.call.return", Shape.DOCUMENTS, FOUND, is_last=True),
    ),
    given=(Source(f"{BASE}.reranking.input_context_texts", Shape.DOCUMENTS, RERANKING),),
    session=(Source(f"{BASE}.session_id"),),
)
