"""LangSmith's OpenTelemetry export: whole inputs and outputs as `gen_ai.prompt` and `.completion`.

What stands under those two keys is read by OpenLLMetry's table; whole ones are JSON.
"""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import Convention, Shape, Source
from otel_rt4chart.spans.model.view import Kind

LANGSMITH = Convention(
    name="LangSmith",
    source="https://docs.langchain.com/langsmith/trace-with-opentelemetry",
    kinds={
        "langsmith.span.kind": {
            "llm": Kind.LLM,
            "chain": Kind.CHAIN,
            "tool": Kind.TOOL,
            "retriever": Kind.RETRIEVER,
            "embedding": Kind.EMBEDDING,
            "prompt": Kind.PROMPT,
            "parser": Kind.CHAIN,
        }
    },
    input=(Source("gen_ai.prompt", Shape.WHOLE, is_last=True),),
    output=(Source("gen_ai.completion", Shape.WHOLE, is_last=True),),
    variables=(Source("gen_ai.prompt", Shape.VARIABLES, frozenset({Kind.PROMPT}), is_last=True),),
    session=(
        Source("langsmith.trace.session_id"),
        Source("langsmith.metadata.session_id"),
        Source("langsmith.metadata.thread_id"),
    ),
)
