# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "openinference-instrumentation-llama-index==4.6.1",
#   "llama-index-core==0.14.25",
#   "llama-index-llms-openai-like==0.8.1",
# ]
# ///
"""LlamaIndex, traced by OpenInference: an index, a query engine, and an agent with it as a tool."""

from __future__ import annotations

import asyncio

from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import TextNode
from llama_index.core.tools import QueryEngineTool
from llama_index.llms.openai_like import OpenAILike
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf
from tests.recorded.endpoint import vector


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


class Words(BaseEmbedding):
    """Hashed words: texts that share them are near."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)


NODES = [TextNode(id_=one.id, text=one.text) for one in shelf.TEXTS]
INDEX = VectorStoreIndex(NODES, embed_model=Words())


def model(url: str) -> OpenAILike:
    """The chat model behind the endpoint."""
    return OpenAILike(
        model="local-chat",
        api_base=url,
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
    )


def plain(url: str) -> None:
    """Answer one question."""
    INDEX.as_query_engine(llm=model(url), similarity_top_k=2).query(shelf.QUESTION)


def streamed(url: str) -> None:
    """Answer one question with a streamed answer."""
    engine = INDEX.as_query_engine(llm=model(url), similarity_top_k=2, streaming=True)
    list(engine.query(shelf.QUESTION).response_gen)


def agent(url: str) -> None:
    """An agent that is given the retriever's texts by a query engine."""
    engine = INDEX.as_query_engine(llm=model(url), similarity_top_k=2)
    tool = QueryEngineTool.from_defaults(engine, name="support", description="The support texts.")

    async def asked() -> None:
        await FunctionAgent(tools=[tool], llm=model(url), streaming=False).run(shelf.QUESTION)

    asyncio.run(asked())
