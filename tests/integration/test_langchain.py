from __future__ import annotations

import warnings
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart import RT4ChartInstrumentor
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.reading.sdk import record_from_readable

with warnings.catch_warnings():
    # Not ours: what these packages deprecate in each other.
    warnings.simplefilter("ignore")
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough
    from openinference.instrumentation.langchain import LangChainInstrumentor


class Shelf(BaseRetriever):
    """A retriever over two documents."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(page_content="The free trial lasts 14 days.", metadata={"source": "faq.md"}),
            Document(page_content="Dogs are welcome.", metadata={"source": "pets.md"}),
        ]


def joined(documents: list[Document]) -> str:
    """The documents as the prompt has them."""
    return "\n".join(document.page_content for document in documents)


def test_a_langchain_application_gives_one_exchange() -> None:
    """OpenInference's own instrumentor and ours, side by side, on a real chain."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    LangChainInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider, sample_rate=1.0)
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("user", "{question}")])
    model = FakeListChatModel(responses=["The free trial lasts 30 days."])
    chain: Any = (
        {"context": Shelf() | RunnableLambda(joined), "question": RunnablePassthrough()}
        | prompt
        | model
    )

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chain.invoke("How long is the trial?")
    finally:
        RT4ChartInstrumentor().uninstrument()
        LangChainInstrumentor().uninstrument()

    (found,) = find_candidates([record_from_readable(s) for s in exporter.get_finished_spans()])
    assert found.exchange.question == "How long is the trial?"
    assert [(p.text, p.metadata) for p in found.exchange.passages] == [
        ("The free trial lasts 14 days.", {"source": "faq.md"}),
        ("Dogs are welcome.", {"source": "pets.md"}),
    ]
    assert found.exchange.answer == "The free trial lasts 30 days."
    assert (found.sampled, found.sample_rate, found.blocked) == (True, 1.0, None)
