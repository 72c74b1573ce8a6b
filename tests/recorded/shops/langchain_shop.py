"""The lamp shop on LangChain: a vector store, a prompt, a chat model; and an agent with a tool."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.graph import START, StateGraph
from langgraph.types import Send
from opentelemetry import trace

from tests.recorded import shelf

PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", shelf.INSTRUCTIONS),
        ("user", "Context:\n{context}\n\nQuestion: {question}"),
    ]
)


def retriever(url: str) -> VectorStoreRetriever:
    """The two nearest of the shop's texts."""
    embeddings = OpenAIEmbeddings(base_url=url, api_key="none", check_embedding_ctx_length=False)
    store = InMemoryVectorStore(embeddings)
    store.add_documents(
        [Document(one.text, id=one.id, metadata={"source": one.id}) for one in shelf.TEXTS]
    )
    return store.as_retriever(search_kwargs={"k": 2})


def model(url: str) -> ChatOpenAI:
    """The chat model behind the endpoint."""
    return ChatOpenAI(model="local-chat", base_url=url, api_key="none")


def joined(documents: list[Document]) -> str:
    """The documents as the prompt has them."""
    return "\n".join(document.page_content for document in documents)


def chain(url: str) -> Runnable[str, str]:
    """Retrieve, ask, answer."""
    context = retriever(url) | RunnableLambda(joined)
    given = {"context": context, "question": RunnablePassthrough()}
    return given | PROMPT | model(url) | StrOutputParser()


def named(url: str) -> Runnable[str, str]:
    """The chain under the route's name."""
    return chain(url).with_config(run_name=shelf.ROUTE)


def plain(url: str) -> None:
    """One question, one answer."""
    named(url).invoke(shelf.QUESTION)


def streamed(url: str) -> None:
    """The same, the answer word by word."""
    list(named(url).stream(shelf.QUESTION))


def agent(url: str) -> None:
    """An agent that is given the retriever as a tool."""
    tool = create_retriever_tool(retriever(url), "search_texts", "Search the support texts.")
    shop = create_agent(model(url), [tool], system_prompt=shelf.INSTRUCTIONS, name="lamp-shop")
    shop.invoke({"messages": [("user", shelf.QUESTION)]})


class Found(TypedDict, total=False):
    """The state of the graph; each branch adds a summary."""

    question: str
    text: str
    texts: list[str]
    summaries: Annotated[list[str], operator.add]
    answer: str


def steps(url: str) -> None:
    """A graph: retrieve, summarise each text in a branch of its own, answer from the summaries."""
    search, chat = retriever(url), model(url)

    def retrieve(state: Found) -> Found:
        return {"texts": [one.page_content for one in search.invoke(state["question"])]}

    def summarise(state: Found) -> Found:
        return {"summaries": [chat.invoke(f"{shelf.SUMMARISE}\n\n{state['text']}").text]}

    def answer(state: Found) -> Found:
        prompt = PROMPT.invoke(
            {"context": "\n".join(state["summaries"]), "question": state["question"]}
        )
        return {"answer": chat.invoke(prompt).text}

    graph = StateGraph(Found)
    for node in (retrieve, summarise, answer):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "retrieve")
    graph.add_conditional_edges(
        "retrieve",
        lambda state: [Send("summarise", {"text": one}) for one in state["texts"]],
        ["summarise"],
    )
    graph.add_edge("summarise", "answer")
    compiled = graph.compile(name=shelf.ROUTE)
    compiled.invoke({"question": shelf.QUESTION})


def unnamed(url: str) -> None:
    """A chain without a name, called by a function of the application."""
    with trace.get_tracer("lamp-shop").start_as_current_span("POST /returns"):
        chain(url).invoke(shelf.QUESTION)


def empty(url: str) -> None:
    """One question, to which the model answers nothing."""
    named(url).invoke(shelf.UNANSWERED)
