from __future__ import annotations

import inspect
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.guard import guard
from otel_rt4chart.marking.exporter import MarkingExporter

SPANS = [ReadableSpan(name) for name in ("ask", "query", "answer")]


class Refusing(SpanExporter):
    """An exporter that fails, with a `shutdown` of its own kind."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Never takes anything."""
        return SpanExportResult.FAILURE

    def shutdown(self, timeout_millis: float = 30_000) -> None:
        """As OTLP exporters have it."""


def upper(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """Other spans in the same order."""
    return [ReadableSpan(span.name.upper()) for span in spans]


def failing(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """A mistake of ours."""
    raise KeyError(len(spans))


def losing(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """Another one: spans are missing."""
    return list(spans[1:])


def test_the_inner_exporter_gets_the_changed_spans() -> None:
    """All of them, in order."""
    inner = InMemorySpanExporter()

    assert MarkingExporter(inner, upper).export(SPANS) is SpanExportResult.SUCCESS
    assert [span.name for span in inner.get_finished_spans()] == ["ASK", "QUERY", "ANSWER"]


@pytest.mark.parametrize("change", [failing, losing])
def test_where_changing_fails_the_spans_go_on_as_they_came(
    change: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very same objects: nothing is lost by our fault."""
    monkeypatch.setattr(guard, "strict", False)
    inner = InMemorySpanExporter()

    MarkingExporter(inner, change).export(SPANS)  # type: ignore[arg-type]

    assert list(inner.get_finished_spans()) == SPANS


def test_what_the_inner_exporter_says_is_what_it_says() -> None:
    """Its failure, and the signature of its shutdown, which the SDK looks at."""
    inner = Refusing()
    ours = MarkingExporter(inner, upper)

    assert ours.export(SPANS) is SpanExportResult.FAILURE
    assert "timeout_millis" in inspect.getfullargspec(ours.shutdown).args
    assert ours.force_flush() == inner.force_flush()


def test_switched_off_it_lets_everything_pass() -> None:
    """Where something else still holds it."""
    inner = InMemorySpanExporter()
    ours = MarkingExporter(inner, upper)
    ours.is_on = False

    ours.export(SPANS)

    assert list(inner.get_finished_spans()) == SPANS
