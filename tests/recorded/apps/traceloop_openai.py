# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "opentelemetry-instrumentation-openai==0.62.4",
#   "opentelemetry-instrumentation-chromadb==0.62.4",
#   "openai==3.54.0",
#   "chromadb==1.5.9",
# ]
# ///
"""OpenAI's client and Chroma, both traced by Traceloop (OpenLLMetry): hits are span events."""

from __future__ import annotations

import chromadb
from openai import OpenAI
from opentelemetry import trace
from opentelemetry.instrumentation.chromadb import ChromaInstrumentor
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf
from tests.recorded.shops.openai_shop import agent

__all__ = ["agent", "instrument", "plain", "streamed"]
TRACER = trace.get_tracer("lamp-shop")


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    ChromaInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


def vectors(client: OpenAI, texts: list[str]) -> list[list[float]]:
    """The texts' embeddings."""
    answer = client.embeddings.create(model="local-embedding", input=texts)
    return [one.embedding for one in answer.data]


def messages(client: OpenAI, question: str) -> list[dict[str, str]]:
    """The prompt, with the two nearest texts of a collection that is kept in memory."""
    texts = chromadb.EphemeralClient().get_or_create_collection("support", embedding_function=None)
    said = [one.text for one in shelf.TEXTS]
    texts.upsert([one.id for one in shelf.TEXTS], vectors(client, said), documents=said)
    found = texts.query(query_embeddings=vectors(client, [question]), n_results=2)
    return shelf.prompt(question, "\n".join(found["documents"][0]))


def plain(url: str) -> None:
    """Retrieve, ask, answer."""
    client = OpenAI(base_url=url, api_key="none")
    with TRACER.start_as_current_span(shelf.ROUTE):
        asked = messages(client, shelf.QUESTION)
        client.chat.completions.create(model="local-chat", messages=asked)


def streamed(url: str) -> None:
    """Answer one question with a streamed answer."""
    client = OpenAI(base_url=url, api_key="none")
    with TRACER.start_as_current_span(shelf.ROUTE):
        asked = messages(client, shelf.QUESTION)
        list(client.chat.completions.create(model="local-chat", messages=asked, stream=True))
