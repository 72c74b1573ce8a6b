# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "traceai-openai==0.1.10",
#   "openai==3.54.0",
# ]
# ///
"""OpenAI's client, traced by traceAI."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from traceai_openai import OpenAIInstrumentor

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded.shops.openai_shop import agent, plain, streamed

__all__ = ["agent", "instrument", "plain", "streamed"]


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)
