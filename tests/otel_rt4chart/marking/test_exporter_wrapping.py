from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.trace import (
    ConcurrentMultiSpanProcessor,
    ReadableSpan,
    SpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.marking.exporter_wrapping import WrappedExporters


class Around(SpanProcessor):
    """A processor around another one, as several vendors have it."""

    def __init__(self, processor: SpanProcessor) -> None:
        self.processor = processor

    def on_end(self, span: ReadableSpan) -> None:
        """Passes on."""
        self.processor.on_end(span)


class Seen:
    """A change that remembers the names of what passed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        """Changes nothing."""
        self.names += [span.name for span in spans]
        return spans


def run(provider: TracerProvider, name: str) -> None:
    """One span through all processors."""
    provider.get_tracer("app").start_span(name).end()
    provider.force_flush()


def test_it_stands_around_every_kind_of_processors_exporter() -> None:
    """Simple, batching, and one inside another; each span passes once an exporter."""
    simple, batch, inner = (InMemorySpanExporter() for _ in range(3))
    provider, seen = TracerProvider(), Seen()
    provider.add_span_processor(SimpleSpanProcessor(simple))
    provider.add_span_processor(BatchSpanProcessor(batch))
    provider.add_span_processor(Around(SimpleSpanProcessor(inner)))
    attached = WrappedExporters(provider, seen)

    attached.wrap_new()
    run(provider, "ask")

    assert attached.count == 3
    assert seen.names == ["ask"] * 3
    assert [len(one.get_finished_spans()) for one in (simple, batch, inner)] == [1, 1, 1]
    provider.shutdown()


def test_processors_that_export_side_by_side() -> None:
    """The SDK's other way to call them."""
    concurrent = ConcurrentMultiSpanProcessor(2)
    provider, seen = TracerProvider(active_span_processor=concurrent), Seen()
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    WrappedExporters(provider, seen).wrap_new()

    run(provider, "ask")

    assert seen.names == ["ask"]
    provider.shutdown()


def test_what_is_added_later_is_found_at_the_next_look() -> None:
    """Applications set up exporters before and after instrumenting; nothing is wrapped twice."""
    provider, seen = TracerProvider(), Seen()
    attached = WrappedExporters(provider, seen)
    attached.wrap_new()
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    attached.wrap_new()
    attached.wrap_new()

    run(provider, "ask")

    assert seen.names == ["ask"]


def test_two_that_attach_mark_once() -> None:
    """Instrumenting twice is harmless."""
    provider, seen = TracerProvider(), Seen()
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    WrappedExporters(provider, seen).wrap_new()
    second = WrappedExporters(provider, seen)
    second.wrap_new()

    run(provider, "ask")

    assert (second.count, seen.names) == (0, ["ask"])


def test_detached_the_processors_are_as_they_were() -> None:
    """The exporters themselves are back; a processor without one is left alone."""
    exporter = InMemorySpanExporter()
    simple, batch = SimpleSpanProcessor(exporter), BatchSpanProcessor(exporter)
    before: list[dict[str, Any]] = [dict(vars(simple)), dict(vars(batch._batch_processor))]
    provider = TracerProvider()
    for one in (simple, batch, SpanProcessor()):
        provider.add_span_processor(one)
    attached = WrappedExporters(provider, Seen())
    attached.wrap_new()
    assert vars(simple) != before[0]

    attached.detach()

    assert simple.span_exporter is exporter
    assert [vars(simple), batch._batch_processor._exporter] == [before[0], exporter]
    provider.shutdown()
