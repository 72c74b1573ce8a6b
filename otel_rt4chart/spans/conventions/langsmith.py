"""LangSmith's OpenTelemetry export: whole inputs and outputs as `gen_ai.prompt` and `.completion`.

Flattened keys under these two are read by OpenLLMetry's table; whole values are JSON.
"""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import AttributeSource, Convention, ValueShape
from otel_rt4chart.spans.model.span_view import OperationKind

LANGSMITH = Convention(
    name="LangSmith",
    source="https://docs.langchain.com/langsmith/trace-with-opentelemetry",
    kinds={
        "langsmith.span.kind": {
            "llm": OperationKind.LLM,
            "chain": OperationKind.CHAIN,
            "tool": OperationKind.TOOL,
            "retriever": OperationKind.RETRIEVER,
            "embedding": OperationKind.EMBEDDING,
            "prompt": OperationKind.PROMPT,
            "parser": OperationKind.CHAIN,
        }
    },
    input=(AttributeSource("gen_ai.prompt", ValueShape.WHOLE, is_last=True),),
    output=(AttributeSource("gen_ai.completion", ValueShape.WHOLE, is_last=True),),
    variables=(
        AttributeSource(
            "gen_ai.prompt", ValueShape.VARIABLES, frozenset({OperationKind.PROMPT}), is_last=True
        ),
    ),
    session=(
        AttributeSource("langsmith.trace.session_id"),
        AttributeSource("langsmith.metadata.session_id"),
        AttributeSource("langsmith.metadata.thread_id"),
    ),
)
