"""MLflow: every attribute is JSON, including the span type."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    DOCUMENT_KINDS,
    GENERATION_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

INPUTS, OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"

MLFLOW = Convention(
    name="MLflow",
    source="https://github.com/mlflow/mlflow/blob/master/mlflow/entities/span.py",
    kinds={
        "mlflow.spanType": {
            "llm": OperationKind.LLM,
            "chat_model": OperationKind.LLM,
            "retriever": OperationKind.RETRIEVER,
            "reranker": OperationKind.RERANKER,
            "tool": OperationKind.TOOL,
            "agent": OperationKind.AGENT,
            "chain": OperationKind.CHAIN,
            "workflow": OperationKind.CHAIN,
            "task": OperationKind.CHAIN,
            "parser": OperationKind.CHAIN,
            "embedding": OperationKind.EMBEDDING,
            "guardrail": OperationKind.GUARDRAIL,
            "evaluator": OperationKind.EVALUATOR,
        }
    },
    vague=frozenset({"task"}),
    input=(AttributeSource(INPUTS, ValueShape.JSON, is_last=True),),
    output=(AttributeSource(OUTPUTS, ValueShape.JSON, is_last=True),),
    prompt=(AttributeSource(INPUTS, ValueShape.MESSAGES, GENERATION_KINDS, is_last=True),),
    documents=(AttributeSource(OUTPUTS, ValueShape.DOCUMENTS, DOCUMENT_KINDS),),
    model=(AttributeSource("mlflow.llm.model", ValueShape.JSON),),
    session=(AttributeSource("mlflow.trace.session"),),
)
