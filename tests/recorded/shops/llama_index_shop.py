"""The lamp shop on LlamaIndex: an index, a query engine, and an agent with it as a tool."""

from __future__ import annotations

import asyncio

from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.query_engine import BaseQueryEngine
from llama_index.core.schema import TextNode
from llama_index.core.tools import QueryEngineTool
from llama_index.llms.openai_like import OpenAILike

from tests.recorded import shelf
from tests.recorded.endpoint import vector


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


def engine(url: str, *, streaming: bool = False) -> BaseQueryEngine:
    """The query engine over the two nearest of the shop's texts."""
    return INDEX.as_query_engine(llm=model(url), similarity_top_k=2, streaming=streaming)


def plain(url: str) -> None:
    """Answer one question."""
    engine(url).query(shelf.QUESTION)


def awaited(url: str) -> None:
    """The same by the asynchronous method."""
    asyncio.run(engine(url).aquery(shelf.QUESTION))


def empty(url: str) -> None:
    """One question, to which the model answers nothing."""
    engine(url).query(shelf.UNANSWERED)


def streamed(url: str) -> None:
    """Answer one question with a streamed answer."""
    list(engine(url, streaming=True).query(shelf.QUESTION).response_gen)


def agent(url: str) -> None:
    """An agent that is given the retriever's texts by a query engine."""
    tool = QueryEngineTool.from_defaults(
        engine(url), name="support", description="The support texts."
    )

    async def asked() -> None:
        await FunctionAgent(tools=[tool], llm=model(url), streaming=False).run(shelf.QUESTION)

    asyncio.run(asked())
