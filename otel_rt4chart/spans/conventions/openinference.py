"""OpenInference: flattened lists with zero-based indices."""

from __future__ import annotations

from otel_rt4chart.core import semconv
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

SPAN_KINDS = {kind.value.lower(): kind for kind in OperationKind if kind}

OPENINFERENCE = Convention(
    name="OpenInference",
    source="https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md",
    kinds={semconv.SPAN_KIND: SPAN_KINDS},
    # The SDK drops the oldest attributes of a span first, and the kind is among them.
    hints=(
        (semconv.RETRIEVAL_DOCUMENTS, OperationKind.RETRIEVER),
        ("reranker", OperationKind.RERANKER),
        (semconv.LLM_OUTPUT_MESSAGES, OperationKind.LLM),
        (semconv.LLM_INPUT_MESSAGES, OperationKind.LLM),
        ("llm.choices", OperationKind.LLM),
        ("llm.prompts", OperationKind.LLM),
    ),
    placeholders=(semconv.REDACTED,),
    input=(
        AttributeSource("reranker.query", kinds=RERANKER_KINDS),
        AttributeSource(semconv.INPUT_VALUE, ValueShape.WHOLE, is_last=True),
    ),
    output=(
        AttributeSource(semconv.LLM_OUTPUT_MESSAGES, ValueShape.MESSAGES),
        AttributeSource("llm.choices", ValueShape.MESSAGES),
        AttributeSource(semconv.OUTPUT_VALUE, ValueShape.WHOLE, is_last=True),
    ),
    prompt=(
        AttributeSource(semconv.LLM_INPUT_MESSAGES, ValueShape.MESSAGES, GENERATION_KINDS),
        AttributeSource("llm.prompts", ValueShape.MESSAGES, GENERATION_KINDS, role="prompt"),
        AttributeSource(semconv.INPUT_VALUE, ValueShape.MESSAGES, GENERATION_KINDS, is_last=True),
    ),
    documents=(
        AttributeSource(semconv.RETRIEVAL_DOCUMENTS, ValueShape.DOCUMENTS, RETRIEVER_KINDS),
        AttributeSource(semconv.RERANKER_OUTPUT_DOCUMENTS, ValueShape.DOCUMENTS, RERANKER_KINDS),
        AttributeSource(semconv.OUTPUT_VALUE, ValueShape.DOCUMENTS, DOCUMENT_KINDS, is_last=True),
    ),
    input_documents=(
        AttributeSource("reranker.input_documents", ValueShape.DOCUMENTS, RERANKER_KINDS),
    ),
    variables=(
        AttributeSource("llm.prompt_template.variables", ValueShape.VARIABLES),
        AttributeSource(
            semconv.INPUT_VALUE,
            ValueShape.VARIABLES,
            frozenset({OperationKind.PROMPT}),
            is_last=True,
        ),
    ),
    model=(
        AttributeSource(semconv.LLM_MODEL_NAME),
        AttributeSource("llm.response.model_name"),
        AttributeSource("llm.request.model_name"),
    ),
    prompt_version=(AttributeSource(semconv.LLM_PROMPT_TEMPLATE_VERSION),),
    session=(AttributeSource("session.id"),),
)
