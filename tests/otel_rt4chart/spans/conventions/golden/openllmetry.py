"""OpenLLMetry's spans, vector databases among them, and traceAI's."""

from __future__ import annotations

import json

from otel_rt4chart.spans.model.span_view import OperationKind as Kind
from tests.otel_rt4chart.spans.conventions.golden.case import Golden, doc, system, user

NAME = {"convention": "OpenLLMetry"}
KIND = "traceloop.span.kind"
IN, OUT = "traceloop.entity.input", "traceloop.entity.output"
PROMPT, SAID = "gen_ai.prompt.{}.", "gen_ai.completion.0."
HITS = {
    "documents": [{"page_content": "14 days.", "metadata": {"source": "faq.md"}}],
    "count": 1,
}
NODES = [
    json.dumps({"node": {"id_": name, "metadata": {}, "text": text, "class_name": "TextNode"},
                "score": score, "class_name": "NodeWithScore"})
    for name, text, score in (("n-1", "14 days.", 0.5), ("n-2", "Free.", 0.25))
]  # fmt: skip
OUTER = {"session": "s1", **NAME}
SESSION = {"traceloop.association.properties.session_id": "s1"}
TRACEAI = {"convention": "traceAI"}
DB = {"kind": Kind.RETRIEVER, "convention": "Vector databases"}

OPENLLMETRY = (
    Golden(
        name="a workflow of a decorator",
        attributes={KIND: "workflow", IN: '{"args": ["How long?"], "kwargs": {}}',
                    OUT: '"30 days."', **SESSION},
        read={"kind": Kind.CHAIN, **OUTER, "input": "How long?", "output": "30 days."},
    ),
    Golden(
        name="a task of LangChain",
        attributes={KIND: "task", IN: '{"inputs": {"question": "How long?"}, "tags": [], '
                                      '"metadata": {}, "kwargs": {}}',
                    OUT: '{"outputs": "30 days.", "kwargs": {"tags": []}}'},
        read={"kind": Kind.CHAIN, **NAME, "input": "How long?", "output": "30 days."},
    ),
    Golden(name="a function that returned nothing", attributes={KIND: "task", OUT: "null"},
           read={"kind": Kind.CHAIN, **NAME, "is_blank": True}),
    Golden(name="an unknown kind says nothing", attributes={KIND: "unknown"}, read={}),
    Golden(
        name="an agent",
        attributes={KIND: "agent", IN: '{"args": [], "kwargs": {"question": "How long?"}}'},
        read={"kind": Kind.AGENT, **NAME, "input": "How long?"},
    ),
    Golden(
        name="a tool of a decorator",
        attributes={KIND: "tool", IN: '{"args": ["trial"], "kwargs": {}}', OUT: '"14 days."'},
        read={"kind": Kind.TOOL, **NAME, "input": "trial", "output": "14 days.",
              "documents": (doc("14 days."),)},
    ),
    Golden(
        name="LangChain's retriever is a task by kind and a retrieval by operation",
        span="vector_db_retrieve Shelf",
        attributes={KIND: "task", "gen_ai.operation.name": "vector_db_retrieve",
                    IN: '{"query": "How long?", "tags": null, "metadata": null, "kwargs": {}}',
                    OUT: json.dumps(HITS), "gen_ai.task.output": json.dumps(HITS)},
        read={"kind": Kind.RETRIEVER, **NAME, "input": "How long?", "output": json.dumps(HITS),
              "documents": (doc("14 days.", "faq.md", source="faq.md"),)},
    ),
    Golden(
        name="LlamaIndex's retriever is a task that returns nodes",
        span="VectorIndexRetriever.task",
        attributes={KIND: "task", IN: '{"query_bundle": {"query_str": "How long?"}}',
                    OUT: json.dumps(NODES)},
        read={"kind": Kind.RETRIEVER, **NAME, "input": "How long?", "output": "\n".join(NODES),
              "documents": (doc("14 days.", "n-1", 0.5), doc("Free.", "n-2", 0.25))},
    ),
    Golden(
        name="LlamaIndex's reranker is a task that returns some of its nodes",
        span="LLMRerank.task",
        attributes={KIND: "task", IN: json.dumps({"nodes": NODES}), OUT: json.dumps(NODES[:1])},
        read={"kind": Kind.RERANKER, **NAME, "input": json.dumps({"nodes": NODES}),
              "output": NODES[0], "documents": (doc("14 days.", "n-1", 0.5),),
              "input_documents": (doc("14 days.", "n-1", 0.5), doc("Free.", "n-2", 0.25))},
    ),
    Golden(
        name="a retriever whose output was cut, and is whole beside it",
        attributes={"gen_ai.operation.name": "vector_db_retrieve", OUT: json.dumps(HITS)[:50],
                    "gen_ai.task.output": json.dumps(HITS)},
        read={"kind": Kind.RETRIEVER, **NAME, "output": json.dumps(HITS),
              "documents": (doc("14 days.", "faq.md", source="faq.md"),)},
    ),
    Golden(
        name="a retriever whose output was cut",
        attributes={"gen_ai.operation.name": "vector_db_retrieve", OUT: json.dumps(HITS)[:50]},
        read={"kind": Kind.RETRIEVER, **NAME, "is_truncated": True},
    ),
    Golden(
        name="a generation of the older names",
        attributes={"llm.request.type": "chat", "gen_ai.response.model": "m-1",
                    PROMPT.format(0) + "role": "system", PROMPT.format(0) + "content": "Brief.",
                    PROMPT.format(1) + "role": "user", PROMPT.format(1) + "content": "How long?",
                    SAID + "role": "assistant", SAID + "content": "30 days.",
                    SAID + "finish_reason": "stop"},
        read={"kind": Kind.LLM, **NAME, "model": "m-1", "output": "30 days.",
              "input": "How long?", "prompt": (system("Brief."), user("How long?"))},
    ),
    Golden(
        name="Cohere's documents are prompts of the system",
        attributes={"llm.request.type": "chat",
                    PROMPT.format(0) + "role": "system", PROMPT.format(0) + "content": "14 days.",
                    PROMPT.format(1) + "role": "user", PROMPT.format(1) + "content": "How long?",
                    SAID + "content": "30 days."},
        read={"kind": Kind.LLM, **NAME, "output": "30 days.",
              "input": "How long?", "prompt": (system("14 days."), user("How long?"))},
    ),
    Golden(
        name="an evicted request type, and a call of a tool",
        attributes={SAID + "tool_calls.0.name": "search", SAID + "role": "assistant"},
        dropped_attributes=1,
        read={"kind": Kind.LLM, **NAME, "calls_tools_only": True, "is_truncated": True},
    ),
    Golden(
        name="variables of a managed prompt",
        attributes={"llm.request.type": "completion", "traceloop.prompt.version": "3",
                    "traceloop.prompt.template_variables.context": "14 days.",
                    "traceloop.prompt.template_variables.question": "How long?",
                    SAID + "content": "30 days."},
        read={"kind": Kind.LLM, **NAME, "output": "30 days.", "prompt_version": "3",
              "variables": (doc("14 days."),)},
    ),
)  # fmt: skip

VECTORDB = (
    Golden(
        name="Chroma's hits are events",
        span="chroma.query",
        attributes={"db.system": "chroma", "db.operation": "query"},
        events=[("db.query.result", {"db.query.result.id": "a", "db.query.result.distance": 0.5,
                                     "db.query.result.document": "14 days.",
                                     "db.query.result.metadata": '{"source": "faq.md"}'})],
        read={**DB, "documents": (doc("14 days.", "a", source="faq.md"),)},
    ),
    Golden(
        name="Pinecone's metadata is Python's own text of a map",
        span="pinecone.query",
        attributes={"db.system": "pinecone"},
        events=[("db.query.result", {"db.query.result.id": "a", "db.query.result.score": 0.5,
                                     "db.query.result.metadata":
                                         "{'text': '14 days.', 'page': 2.0}"})],
        read={**DB, "documents": (doc("14 days.", "a", 0.5, text="14 days.", page=2.0),)},
    ),
    Golden(
        name="Milvus's hits",
        attributes={"db.system": "milvus"},
        events=[("db.search.result", {"db.search.result.id": "a", "db.search.query.id": "0",
                                      "db.search.result.entity": "{'text': '14 days.'}"})],
        read={**DB, "documents": (doc("14 days.", "a", text="14 days."),)},
    ),
    Golden(
        name="Marqo's hits are raw",
        attributes={"db.system": "marqo"},
        events=[("db.query.result", {"_id": "a", "_score": 0.5, "content": "14 days."})],
        read={**DB, "documents": (doc("14 days.", "a", 0.5),)},
    ),
    Golden(
        name="evicted hits",
        attributes={"db.system": "chroma"},
        events=[("db.query.result", {"db.query.result.document": "14 days."})],
        dropped_events=72,
        read={**DB, "documents": (doc("14 days."),), "is_truncated": True},
    ),
    Golden(
        name="a query without events is told by its client's name",
        span="qdrant.search",
        scope="opentelemetry.instrumentation.qdrant",
        attributes={"server.address": "db"},
        read=DB,
    ),
    Golden(
        name="a vector query without content",
        attributes={"db.system": "qdrant", "db.vector.query.top_k": 3},
        read=DB,
    ),
    Golden(
        name="a database that is no vector database",
        span="SELECT shop",
        attributes={"db.system": "postgresql", "db.statement": "SELECT 1", "db.name": "shop"},
        read={},
    ),
    Golden(
        name="a request over HTTP",
        span="POST /chat",
        attributes={"http.method": "POST", "http.route": "/chat", "server.port": 443},
        read={},
    ),
    Golden(name="a span that is called chat", span="chat room", attributes={"room": "1"}, read={}),
)  # fmt: skip

TRACEAI_CASES = (
    Golden(
        name="a generation of traceAI, flattened under OpenTelemetry's names",
        attributes={"gen_ai.span.kind": "LLM",
                    "gen_ai.input.messages.0.message.role": "user",
                    "gen_ai.input.messages.0.message.content": "How long?",
                    "gen_ai.output.messages.0.message.role": "assistant",
                    "gen_ai.output.messages.0.message.content": "30 days.",
                    "output.value": "{}"},
        read={"kind": Kind.LLM, **TRACEAI, "prompt": (user("How long?"),), "output": "30 days."},
    ),
    Golden(
        name="a streamed generation of traceAI, its model among the parameters",
        attributes={"gen_ai.span.kind": "LLM", "output.value": "30 days.",
                    "gen_ai.request.parameters": '{"model": "m", "stream": true}'},
        read={"kind": Kind.LLM, **TRACEAI, "output": "30 days.", "model": "m"},
    ),
    Golden(
        name="a retrieval of traceAI",
        attributes={"gen_ai.span.kind": "VECTOR_DB", "gen_ai.retrieval.query": "How long?",
                    "retrieval.documents.0.document.content": "14 days.",
                    "retrieval.documents.0.document.id": "a"},
        read={"kind": Kind.RETRIEVER, **TRACEAI, "input": "How long?",
              "documents": (doc("14 days.", "a"),)},
    ),
    Golden(
        name="a reranking of traceAI",
        attributes={"gen_ai.span.kind": "RERANKER", "gen_ai.reranker.query": "How long?",
                    "gen_ai.reranker.input_documents.0.document.content": "Free.",
                    "gen_ai.reranker.output_documents": '[{"document.content": "14 days."}]'},
        read={"kind": Kind.RERANKER, **TRACEAI, "input": "How long?",
              "input_documents": (doc("Free."),),
              "documents": (doc("14 days."),)},
    ),
    Golden(name="a conversation", attributes={"gen_ai.span.kind": "CONVERSATION"},
           read={"kind": Kind.CHAIN, **TRACEAI}),
    Golden(name="an agent on the other side", attributes={"gen_ai.span.kind": "A2A_CLIENT"},
           read={"kind": Kind.AGENT, **TRACEAI}),
    Golden(name="the kind in C# and Java",
           attributes={"fi.span.kind": "LLM", "output.value": "30 days.",
                       "gen_ai.prompt.template.variables": '{"documents": ["14 days."]}'},
           read={"kind": Kind.LLM, **TRACEAI, "output": "30 days.",
                 "variables": (doc("14 days."),)}),
)  # fmt: skip
CASES = (*OPENLLMETRY, *VECTORDB, *TRACEAI_CASES)
