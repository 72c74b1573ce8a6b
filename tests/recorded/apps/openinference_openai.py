# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "openinference-instrumentation-openai==0.1.66",
#   "openai==3.54.0",
# ]
# ///
"""OpenAI's client, traced by OpenInference."""

from __future__ import annotations

from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded.shops.openai_shop import agent, plain, streamed

__all__ = ["agent", "instrument", "plain", "streamed"]


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)
