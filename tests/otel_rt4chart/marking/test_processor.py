from __future__ import annotations

from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.marking.exporter import keep_unmarked, mark_and_redact
from otel_rt4chart.marking.processor import MarkingProcessor
from otel_rt4chart.redaction import Redactor

SECRET = {"input.value": "I am Ann."}


class Sends(SpanProcessor):
    """A processor that keeps its exporter where nobody looks."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self.target = exporter

    def on_end(self, span: ReadableSpan) -> None:
        """Exports at once."""
        self.target.export([span])


class Named(SpanProcessor):
    """A processor that only looks at spans that start."""


class Around(SpanProcessor):
    """A processor around others."""

    def __init__(self, *inner: SpanProcessor) -> None:
        self._span_processors = inner

    def on_end(self, span: ReadableSpan) -> None:
        """Passes on."""
        for one in self._span_processors:
            one.on_end(span)


def redacting(provider: TracerProvider) -> MarkingProcessor:
    """A marker that hides all texts, in its place."""
    redactor = Redactor(lambda text: "[hidden]", is_on=True)
    marker = MarkingProcessor(
        provider, mark_and_redact(keep_unmarked, redactor), marks=True, hides=True
    )
    provider.add_span_processor(marker)
    return marker


def simple(exporter: InMemorySpanExporter) -> SimpleSpanProcessor:
    """The SDK's processor."""
    return SimpleSpanProcessor(exporter)


def told(exporter: InMemorySpanExporter) -> Sequence[str]:
    """The texts that came out."""
    return [str((one.attributes or {})["input.value"]) for one in exporter.get_finished_spans()]


def test_an_exporter_that_is_added_while_a_span_is_open_is_found() -> None:
    """Before that span reaches it."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    redacting(provider)
    with provider.get_tracer("app").start_as_current_span("ask", attributes=SECRET):
        provider.add_span_processor(simple(exporter))

    assert told(exporter) == ["[hidden]"]


def test_a_processor_whose_exporter_is_not_found_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Beside those whose exporter is found, within others too, and once."""
    provider = TracerProvider()
    inner = Around(simple(InMemorySpanExporter()), Sends(InMemorySpanExporter()))
    for one in (simple(InMemorySpanExporter()), inner, Named()):
        provider.add_span_processor(one)
    redacting(provider)
    for _ in range(3):
        provider.get_tracer("app").start_span("ask", attributes=SECRET).end()

    (said,) = [one.getMessage() for one in caplog.records]
    assert said.startswith("spans sent by Sends are not redacted: expected an exporter in one of")


def test_nothing_is_said_of_processors_where_nothing_is_redacted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Marks on the spans of one exporter are enough for the service."""
    provider = TracerProvider()
    for one in (simple(InMemorySpanExporter()), Sends(InMemorySpanExporter())):
        provider.add_span_processor(one)
    provider.add_span_processor(MarkingProcessor(provider, keep_unmarked, marks=True))

    provider.get_tracer("app").start_span("ask", attributes=SECRET).end()

    assert not caplog.records


def test_without_an_exporter_that_is_told_where_spans_are_to_be_marked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Once, when the first span ends."""
    provider = TracerProvider()
    provider.add_span_processor(MarkingProcessor(provider, keep_unmarked, marks=True))
    for _ in range(2):
        provider.get_tracer("app").start_span("ask").end()

    assert caplog.text.count("spans are not marked") == 1
