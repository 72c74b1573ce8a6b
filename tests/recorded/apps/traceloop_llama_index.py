# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "opentelemetry-instrumentation-llamaindex==0.62.4",
#   "llama-index-core==0.14.25",
#   "llama-index-llms-openai-like==0.8.1",
# ]
# ///
"""LlamaIndex, traced by Traceloop (OpenLLMetry)."""

from __future__ import annotations

from opentelemetry.instrumentation.llamaindex import LlamaIndexInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart import RT4ChartInstrumentor
from tests.recorded.shops.llama_index_shop import agent, awaited, empty, plain, streamed

__all__ = ["agent", "awaited", "empty", "instrument", "plain", "streamed"]


def instrument(provider: TracerProvider) -> None:
    """Instrument with the package, then with otel-rt4chart."""
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)
