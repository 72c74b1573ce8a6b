# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "openinference-instrumentation-dspy==0.1.48",
#   "dspy==3.4.1",
# ]
# ///
"""DSPy, traced by OpenInference: a module of a retriever and a chain of thought."""

from __future__ import annotations

import dspy
from openinference.instrumentation.dspy import DSPyInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded import shelf


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    DSPyInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)


def shop_search(query: str, k: int, **_: object) -> list[dspy.Example]:
    """The texts that share most words with the question."""
    return [dspy.Example(long_text=one.text, pid=one.id) for one, _ in shelf.search(query, k)]


class Support(dspy.Module):
    """Retrieve, think, answer."""

    def __init__(self) -> None:
        super().__init__()
        self.search = dspy.Retrieve(k=2)
        self.respond = dspy.ChainOfThought("context: list[str], question -> answer")

    def forward(self, question: str) -> dspy.Prediction:
        return self.respond(context=self.search(question).passages, question=question)


def plain(url: str) -> None:
    """Answer one question."""
    model = dspy.LM("openai/local-chat", api_base=url, api_key="none", cache=False)
    with dspy.context(lm=model, rm=shop_search):
        Support()(question=shelf.QUESTION)
