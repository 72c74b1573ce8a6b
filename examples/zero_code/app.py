"""An application that knows nothing of us: LangChain over three documents, a question, an answer.

    pip install otel-rt4chart opentelemetry-distro opentelemetry-exporter-otlp-proto-http \\
        openinference-instrumentation-langchain langchain-core
    RT4CHART_SAMPLE_RATE=1 OTEL_TRACES_EXPORTER=otlp \\
    OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf \\
        opentelemetry-instrument python app.py

`opentelemetry-instrument` finds LangChain's instrumentation and ours by their entry points. The
model replays one sentence, so that no key is needed.
"""

from __future__ import annotations

import re
import sys

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

DOCUMENTS = {
    "trial.md": "The free trial lasts 14 days. No card is asked for.",
    "refunds.md": "Refunds are paid within 30 days of the purchase.",
    "dogs.md": "Dogs are welcome in all offices.",
}


class Shelf(BaseRetriever):
    """The two documents that share most words with the question."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        asked = words(query)
        ranked = sorted(DOCUMENTS, key=lambda name: -len(asked & words(DOCUMENTS[name])))
        return [
            Document(page_content=DOCUMENTS[name], metadata={"source": name}) for name in ranked[:2]
        ]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def main() -> None:
    """Answer one question."""
    question = sys.argv[1] if len(sys.argv) > 1 else "How long is the free trial?"
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer from this context:\n{context}"), ("user", "{question}")]
    )
    model = FakeListChatModel(responses=["The free trial lasts 30 days."])
    joined = RunnableLambda(join)
    chain = {"context": Shelf() | joined, "question": RunnablePassthrough()} | prompt | model
    print(chain.invoke(question).content)


def join(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


if __name__ == "__main__":
    main()
