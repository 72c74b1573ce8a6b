# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "openinference-instrumentation-haystack==0.1.46",
#   "haystack-ai==3.4.0",
# ]
# ///
"""Haystack, traced by OpenInference: a pipeline of BM25, a prompt builder and a generator."""

from __future__ import annotations

from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from openinference.instrumentation.haystack import HaystackInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf

TEMPLATE = """Context:
{% for document in documents %}{{ document.content }}
{% endfor %}
Question: {{ question }}"""


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    HaystackInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


def pipeline(generator: OpenAIChatGenerator) -> Pipeline:
    """Retrieve, ask, answer."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=one.id, content=one.text) for one in shelf.TEXTS])
    said = [ChatMessage.from_system(shelf.INSTRUCTIONS), ChatMessage.from_user(TEMPLATE)]
    found = Pipeline()
    found.add_component("retriever", InMemoryBM25Retriever(store, top_k=2))
    found.add_component("prompt", ChatPromptBuilder(said, required_variables="*"))
    found.add_component("model", generator)
    found.connect("retriever.documents", "prompt.documents")
    found.connect("prompt.prompt", "model.messages")
    return found


def asked(generator: OpenAIChatGenerator) -> None:
    """Put the question."""
    question = {"retriever": {"query": shelf.QUESTION}, "prompt": {"question": shelf.QUESTION}}
    pipeline(generator).run(question)


def plain(url: str) -> None:
    """Answer one question."""
    key = Secret.from_token("none")
    asked(OpenAIChatGenerator(key, "local-chat", api_base_url=url))


def streamed(url: str) -> None:
    """Answer one question with a streamed answer."""
    key = Secret.from_token("none")
    said = []
    asked(OpenAIChatGenerator(key, "local-chat", said.append, api_base_url=url))
