"""The application that `overhead` measures: a LangChain chain over a retriever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.sdk.trace import TracerProvider

QUESTION = "How long is the trial?"
ANSWER = "The free trial lasts 30 days. Dogs are welcome."
CITED = "The free trial lasts 30 days [1]. Dogs are welcome [2]."


class Shelf(BaseRetriever):
    """Five documents of three sentences, whatever is asked."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        text = "The free trial lasts 14 days. Dogs are welcome. Refunds take 30 days. "
        return [Document(page_content=f"{text}{number}") for number in range(5)]


def joined(documents: list[Document]) -> str:
    """The documents as the prompt has them."""
    return "\n".join(one.page_content for one in documents)


def chains(provider: TracerProvider) -> tuple[Callable[[], object], Callable[[], object]]:
    """Calls that answer once, without citations and with two.

    Their model costs nothing, so that what is traced weighs most.
    """
    LangChainInstrumentor().instrument(tracer_provider=provider)
    return _chain(ANSWER), _chain(CITED)


def _chain(answer: str) -> Callable[[], object]:
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("user", "{question}")])
    model = FakeListChatModel(responses=[answer])
    whole: Any = (
        {"context": Shelf() | RunnableLambda(joined), "question": RunnablePassthrough()}
        | prompt
        | model
    )
    return lambda: whole.invoke(QUESTION)
