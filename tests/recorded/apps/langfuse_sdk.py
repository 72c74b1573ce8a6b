# /// script
# requires-python = ">=3.11"
# dependencies = ["langfuse==5.0.4", "openai==3.54.0"]
# ///
"""Langfuse's SDK by its decorator and its OpenAI client; its own exporter meets a silent server."""

from __future__ import annotations

from langfuse import Langfuse, observe
from langfuse.openai import OpenAI
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf

# Nobody listens there: the spans are recorded beside it.
NOWHERE = "http://127.0.0.1:9"


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    Langfuse(
        public_key="pk-lf-none",
        secret_key="sk-lf-none",  # noqa: S106 - of nobody
        host=NOWHERE,
        tracer_provider=provider,
    )
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


@observe(as_type="retriever")
def search(question: str) -> list[dict[str, object]]:
    """The texts that share most words with the question."""
    found = shelf.search(question)
    return [{"id": one.id, "text": one.text, "score": score} for one, score in found]


@observe(name=shelf.ROUTE)
def asked(question: str, url: str, stream: bool) -> str:
    """Retrieve, ask, answer."""
    context = "\n".join(str(one["text"]) for one in search(question))
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
