"""Clients of vector databases, as OpenLLMetry and traceAI trace them: a span event a hit."""

from __future__ import annotations

from otel_rt4chart.spans.conventions.convention import RETRIEVAL, Convention, Event, Shape, Source
from otel_rt4chart.spans.model.view import Kind

QUERY_RESULT, SEARCH_RESULT = "db.query.result", "db.search.result"

VECTORDB = Convention(
    name="Vector databases",
    source="https://github.com/traceloop/openllmetry/tree/main/packages "
    "(chromadb, pinecone, qdrant, weaviate, milvus, marqo)",
    hints=(
        (QUERY_RESULT, Kind.RETRIEVER),
        (SEARCH_RESULT, Kind.RETRIEVER),
        ("db.vector.query.top_k", Kind.RETRIEVER),
        ("db.vector.query.result_count", Kind.RETRIEVER),
        ("db.vector.results.count", Kind.RETRIEVER),
        ("db.vector.results.ids", Kind.RETRIEVER),
    ),
    names=(
        ("pinecone.query", Kind.RETRIEVER),
        ("chroma.query", Kind.RETRIEVER),
        ("qdrant.search", Kind.RETRIEVER),
        ("qdrant.query", Kind.RETRIEVER),
        ("milvus.search", Kind.RETRIEVER),
        ("marqo.search", Kind.RETRIEVER),
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
        QUERY_RESULT: Event(QUERY_RESULT, prefix="db.query.result."),
        SEARCH_RESULT: Event(SEARCH_RESULT, prefix="db.search.result."),
    },
    documents=(
        Source(QUERY_RESULT, Shape.DOCUMENTS, RETRIEVAL),
        Source(SEARCH_RESULT, Shape.DOCUMENTS, RETRIEVAL),
    ),
)
