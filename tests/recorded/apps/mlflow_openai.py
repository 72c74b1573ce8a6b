# /// script
# requires-python = ">=3.11"
# dependencies = ["mlflow==3.17.2", "openai==3.54.0"]
#
# [tool.recorded.environment]
# MLFLOW_USE_DEFAULT_TRACER_PROVIDER = "false"
# ///
"""MLflow's tracing by its decorator and its OpenAI autologging, through the global provider."""

from __future__ import annotations

import mlflow
from mlflow.entities import Document, SpanType
from openai import OpenAI
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    mlflow.openai.autolog()
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


@mlflow.trace(span_type=SpanType.RETRIEVER)
def search(question: str) -> list[Document]:
    """The texts that share most words with the question."""
    found = shelf.search(question)
    return [Document(one.text, metadata={"doc_uri": one.id}, id=one.id) for one, _ in found]


@mlflow.trace(name=shelf.ROUTE, span_type=SpanType.CHAIN)
def asked(question: str, url: str, stream: bool) -> str:
    """Retrieve, ask, answer."""
    context = "\n".join(one.page_content for one in search(question))
    client = OpenAI(base_url=url, api_key="none")
    answer = client.chat.completions.create(
        model="local-chat", messages=shelf.prompt(question, context), stream=stream
    )
    if not stream:
        return str(answer.choices[0].message.content)
    return "".join(part.choices[0].delta.content or "" for part in answer if part.choices)


def plain(url: str) -> None:
    """Answer one question."""
    asked(shelf.QUESTION, url, stream=False)


def streamed(url: str) -> None:
    """Answer one question with a streamed answer."""
    asked(shelf.QUESTION, url, stream=True)
