"""The clocks of the benchmark of the instrumentor find what they measure."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from benchmarks.application.clocks import Clocks
from benchmarks.application.overhead import ours, processors


@pytest.mark.parametrize(
    "arguments", [{"sample_rate": 1.0}, {"mode": "inline", "judge": "rules", "sample_rate": 1.0}]
)
def test_our_callbacks_are_measured(arguments: Mapping[str, object]) -> None:
    """A span costs time on the caller's thread, and beside it: in the exporter's or in ours."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    with Clocks() as clocks:
        before = processors(provider)
        detach = ours(**arguments)(provider)
        for processor in set(processors(provider)) - set(before):
            clocks.watch(processor)
        with provider.get_tracer("test").start_as_current_span("root"):
            pass
        provider.force_flush()
        detach()

        assert clocks.caller_us() > 0
        assert clocks.beside_us > 0
