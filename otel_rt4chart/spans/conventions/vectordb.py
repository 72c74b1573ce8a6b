"""Vector database clients as traced by OpenLLMetry and traceAI: one span event a hit."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import (
    RETRIEVER_KINDS,
    AttributeSource,
    Convention,
    EventMapping,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

QUERY_RESULT, SEARCH_RESULT = "db.query.result", "db.search.result"

VECTORDB = Convention(
    name="Vector databases",
    source="https://github.com/traceloop/openllmetry/tree/main/packages "
    "(chromadb, pinecone, qdrant, weaviate, milvus, marqo)",
    hints=(
        (QUERY_RESULT, OperationKind.RETRIEVER),
        (SEARCH_RESULT, OperationKind.RETRIEVER),
        ("db.vector.query.top_k", OperationKind.RETRIEVER),
        ("db.vector.query.result_count", OperationKind.RETRIEVER),
        ("db.vector.results.count", OperationKind.RETRIEVER),
        ("db.vector.results.ids", OperationKind.RETRIEVER),
    ),
    names=(
        ("pinecone.query", OperationKind.RETRIEVER),
        ("chroma.query", OperationKind.RETRIEVER),
        ("qdrant.search", OperationKind.RETRIEVER),
        ("qdrant.query", OperationKind.RETRIEVER),
        ("milvus.search", OperationKind.RETRIEVER),
        ("marqo.search", OperationKind.RETRIEVER),
    ),
    scopes=(
        "opentelemetry.instrumentation.pinecone",
        "opentelemetry.instrumentation.chromadb",
        "opentelemetry.instrumentation.qdrant",
        "opentelemetry.instrumentation.milvus",
        "opentelemetry.instrumentation.marqo",
        "opentelemetry.instrumentation.weaviate",
    ),
    events={
        QUERY_RESULT: EventMapping(QUERY_RESULT, prefix="db.query.result."),
        SEARCH_RESULT: EventMapping(SEARCH_RESULT, prefix="db.search.result."),
    },
    documents=(
        AttributeSource(QUERY_RESULT, ValueShape.DOCUMENTS, RETRIEVER_KINDS),
        AttributeSource(SEARCH_RESULT, ValueShape.DOCUMENTS, RETRIEVER_KINDS),
    ),
)
