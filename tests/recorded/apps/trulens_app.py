# /// script
# requires-python = ">=3.11"
# dependencies = ["trulens-core==2.16.0", "openai==3.54.0"]
# ///
"""TruLens by its decorator: a class with a retrieval, a generation and a main method."""

from __future__ import annotations

from openai import OpenAI
from opentelemetry.sdk.trace import TracerProvider
from trulens.apps.app import TruApp
from trulens.core import TruSession
from trulens.core.otel.instrument import instrument as traced
from trulens.otel.semconv.trace import SpanAttributes

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf

TYPES, RETRIEVAL = SpanAttributes.SpanType, SpanAttributes.RETRIEVAL


def instrument(provider: TracerProvider) -> None:
    """Theirs, which takes the provider that is there, then ours."""
    TruSession()
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


class Support:
    """Retrieve, ask, answer."""

    def __init__(self, url: str) -> None:
        self.client = OpenAI(base_url=url, api_key="none")

    @traced(
        span_type=TYPES.RETRIEVAL,
        attributes={RETRIEVAL.QUERY_TEXT: "question", RETRIEVAL.RETRIEVED_CONTEXTS: "return"},
    )
    def search(self, question: str) -> list[str]:
        return [one.text for one, _ in shelf.search(question)]

    @traced(span_type=TYPES.GENERATION)
    def generate(self, question: str, context: str) -> str:
        said = shelf.prompt(question, context)
        answer = self.client.chat.completions.create(model="local-chat", messages=said)
        return str(answer.choices[0].message.content)

    @traced()
    def asked(self, question: str) -> str:
        return self.generate(question, "\n".join(self.search(question)))


def plain(url: str) -> None:
    """Answer one question."""
    support = Support(url)
    with TruApp(support, app_name=shelf.ROUTE, app_version="1", main_method=support.asked):
        support.asked(shelf.QUESTION)
