"""MLflow: every attribute is JSON, the type included."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import FOUND, GENERATION, Convention, Shape, Source
from otel_rt4chart.spans.model.view import Kind

INPUTS, OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"

MLFLOW = Convention(
    name="MLflow",
    source="https://github.com/mlflow/mlflow/blob/master/mlflow/entities/span.py",
    kinds={
        "mlflow.spanType": {
            "llm": Kind.LLM,
            "chat_model": Kind.LLM,
            "retriever": Kind.RETRIEVER,
            "reranker": Kind.RERANKER,
            "tool": Kind.TOOL,
            "agent": Kind.AGENT,
            "chain": Kind.CHAIN,
            "workflow": Kind.CHAIN,
            "task": Kind.CHAIN,
            "parser": Kind.CHAIN,
            "embedding": Kind.EMBEDDING,
            "guardrail": Kind.GUARDRAIL,
            "evaluator": Kind.EVALUATOR,
        }
    },
    vague=frozenset({"task"}),
    input=(Source(INPUTS, Shape.JSON, is_last=True),),
    output=(Source(OUTPUTS, Shape.JSON, is_last=True),),
    prompt=(Source(INPUTS, Shape.MESSAGES, GENERATION, is_last=True),),
    documents=(Source(OUTPUTS, Shape.DOCUMENTS, FOUND),),
    model=(Source("mlflow.llm.model", Shape.JSON),),
    session=(Source("mlflow.trace.session"),),
)
