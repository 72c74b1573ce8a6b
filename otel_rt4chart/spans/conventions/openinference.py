"""OpenInference: lists are flattened and zero-based."""

from __future__ import annotations

from otel_rt4chart.core import semconv
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

KINDS = {kind.value.lower(): kind for kind in Kind if kind}

OPENINFERENCE = Convention(
    name="OpenInference",
    source="https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md",
    kinds={semconv.SPAN_KIND: KINDS},
    # The SDK evicts a span's oldest attributes first, its kind among them.
    hints=(
        (semconv.RETRIEVAL_DOCUMENTS, Kind.RETRIEVER),
        ("reranker", Kind.RERANKER),
        (semconv.LLM_OUTPUT_MESSAGES, Kind.LLM),
        (semconv.LLM_INPUT_MESSAGES, Kind.LLM),
        ("llm.choices", Kind.LLM),
        ("llm.prompts", Kind.LLM),
    ),
    placeholders=(semconv.REDACTED,),
    input=(
        Source("reranker.query", kinds=RERANKING),
        Source(semconv.INPUT_VALUE, Shape.WHOLE, is_last=True),
    ),
    output=(
        Source(semconv.LLM_OUTPUT_MESSAGES, Shape.MESSAGES),
        Source("llm.choices", Shape.MESSAGES),
        Source(semconv.OUTPUT_VALUE, Shape.WHOLE, is_last=True),
    ),
    prompt=(
        Source(semconv.LLM_INPUT_MESSAGES, Shape.MESSAGES, GENERATION),
        Source("llm.prompts", Shape.MESSAGES, GENERATION, role="prompt"),
        Source(semconv.INPUT_VALUE, Shape.MESSAGES, GENERATION, is_last=True),
    ),
    documents=(
        Source(semconv.RETRIEVAL_DOCUMENTS, Shape.DOCUMENTS, RETRIEVAL),
        Source(semconv.RERANKER_OUTPUT_DOCUMENTS, Shape.DOCUMENTS, RERANKING),
        Source(semconv.OUTPUT_VALUE, Shape.DOCUMENTS, FOUND, is_last=True),
    ),
    given=(Source("reranker.input_documents", Shape.DOCUMENTS, RERANKING),),
    variables=(
        Source("llm.prompt_template.variables", Shape.VARIABLES),
        Source(semconv.INPUT_VALUE, Shape.VARIABLES, frozenset({Kind.PROMPT}), is_last=True),
    ),
    model=(
        Source(semconv.LLM_MODEL_NAME),
        Source("llm.response.model_name"),
        Source("llm.request.model_name"),
    ),
    prompt_version=(Source(semconv.LLM_PROMPT_TEMPLATE_VERSION),),
    session=(Source("session.id"),),
)
