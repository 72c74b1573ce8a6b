# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "opentelemetry-instrumentation-genai-openai==1.3b0",
#   "openai==3.54.0",
# ]
#
# [tool.recorded.environment]
# OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT = "span_only"
# ///
"""OpenAI's client, traced by OpenTelemetry's GenAI package."""

from __future__ import annotations

from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded.shops.openai_shop import agent, plain, streamed

__all__ = ["agent", "instrument", "plain", "streamed"]


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)
