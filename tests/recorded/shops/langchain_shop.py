"""The lamp shop on LangChain: a vector store, a prompt, a chat model; and an agent with a tool."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
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


def unnamed(url: str) -> None:
    """A chain without a name, called by a function of the application."""
    with trace.get_tracer("lamp-shop").start_as_current_span("POST /returns"):
        chain(url).invoke(shelf.QUESTION)


def empty(url: str) -> None:
    """One question, to which the model answers nothing."""
    named(url).invoke(shelf.UNANSWERED)
