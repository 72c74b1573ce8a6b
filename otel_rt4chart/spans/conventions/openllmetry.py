"""OpenLLMetry (Traceloop): two generations of names are in use."""

from __future__ import annotations

from collections.abc import Mapping

from otel_rt4chart.spans.conventions.convention import (
    DOCUMENT_KINDS,
    GENERATION_KINDS,
    RERANKER_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.spans.model.values import parse_json

ENTITY_INPUT, ENTITY_OUTPUT = "traceloop.entity.input", "traceloop.entity.output"
# LlamaIndex's spans are all tasks. These are derived: no real attribute has these names.
NODE_KIND = "traceloop.llama_index.kind"
NODES, INPUT_NODES = "traceloop.llama_index.nodes", "traceloop.llama_index.input_nodes"


def llama_index_nodes(value: object, attributes: Mapping[str, object]) -> Mapping[str, object]:
    """The nodes that a task returned: a retrieval, or a reranking of the nodes of its input."""
    nodes = _nodes(value)
    if not nodes:
        return {}
    given = attributes.get(ENTITY_INPUT)
    parsed = parse_json(given).value if isinstance(given, str) else given
    ranked = _nodes(parsed.get("nodes")) if isinstance(parsed, Mapping) else []
    kind = OperationKind.RERANKER if ranked else OperationKind.RETRIEVER
    return {NODE_KIND: kind.value, NODES: nodes, **({INPUT_NODES: ranked} if ranked else {})}


def _nodes(value: object) -> list[Mapping[str, object]]:
    """LlamaIndex's scored nodes, each a map or JSON; empty if any item is something else."""
    items = value if isinstance(value, list | tuple) else ()
    maps = [parse_json(item).value if isinstance(item, str) else item for item in items]
    nodes = [
        one for one in maps if isinstance(one, Mapping) and isinstance(one.get("node"), Mapping)
    ]
    return nodes if len(nodes) == len(items) else []


OPENLLMETRY = Convention(
    name="OpenLLMetry",
    source="https://github.com/traceloop/openllmetry/tree/main/packages/"
    "opentelemetry-semantic-conventions-ai",
    kinds={
        NODE_KIND: {"retriever": OperationKind.RETRIEVER, "reranker": OperationKind.RERANKER},
        "gen_ai.operation.name": {"vector_db_retrieve": OperationKind.RETRIEVER},
        "traceloop.span.kind": {
            "workflow": OperationKind.CHAIN,
            "task": OperationKind.CHAIN,
            "agent": OperationKind.AGENT,
            "tool": OperationKind.TOOL,
        },
        "llm.request.type": {
            "chat": OperationKind.LLM,
            "completion": OperationKind.LLM,
            "embedding": OperationKind.EMBEDDING,
            "rerank": OperationKind.RERANKER,
        },
    },
    vague=frozenset({"workflow", "task"}),
    hints=(("gen_ai.completion", OperationKind.LLM), ("gen_ai.prompt", OperationKind.LLM)),
    derived={ENTITY_OUTPUT: llama_index_nodes},
    names=(("vector_db_retrieve", OperationKind.RETRIEVER),),
    input=(
        AttributeSource(ENTITY_INPUT, ValueShape.JSON, is_last=True),
        AttributeSource("gen_ai.task.input", ValueShape.JSON, is_last=True),
    ),
    output=(
        AttributeSource("gen_ai.completion", ValueShape.MESSAGES, GENERATION_KINDS),
        AttributeSource(ENTITY_OUTPUT, ValueShape.JSON, is_last=True),
        AttributeSource("gen_ai.task.output", ValueShape.JSON, is_last=True),
    ),
    # Cohere's `documents` are prompts with the role `system`.
    prompt=(AttributeSource("gen_ai.prompt", ValueShape.MESSAGES, GENERATION_KINDS),),
    documents=(
        AttributeSource(NODES, ValueShape.DOCUMENTS, DOCUMENT_KINDS),
        AttributeSource(ENTITY_OUTPUT, ValueShape.DOCUMENTS, DOCUMENT_KINDS),
        AttributeSource("gen_ai.task.output", ValueShape.DOCUMENTS, DOCUMENT_KINDS),
        AttributeSource("gen_ai.completion", ValueShape.DOCUMENTS, DOCUMENT_KINDS, is_last=True),
    ),
    input_documents=(AttributeSource(INPUT_NODES, ValueShape.DOCUMENTS, RERANKER_KINDS),),
    variables=(AttributeSource("traceloop.prompt.template_variables", ValueShape.VARIABLES),),
    prompt_version=(AttributeSource("traceloop.prompt.version"),),
    session=(AttributeSource("traceloop.association.properties.session_id"),),
)
