# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "traceai-langchain==0.2.0",
#   "langchain==1.4.7",
#   "langchain-core==1.7.2",
#   "langchain-openai==1.7.3",
#   "numpy==2.4.6",
# ]
# ///
"""LangChain, traced by traceAI."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from traceai_langchain import LangChainInstrumentor

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded.shops.langchain_shop import agent, empty, plain, steps, streamed, unnamed

__all__ = ["agent", "empty", "instrument", "plain", "steps", "streamed", "unnamed"]


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    LangChainInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)
