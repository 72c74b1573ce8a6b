from __future__ import annotations

import inspect
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.core.guard import guard
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


@pytest.mark.parametrize("change", [failing, losing])
def test_where_redacting_fails_the_spans_go_on_without_texts(
    change: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not as they came: what was to be hidden must not get out by our fault."""
    monkeypatch.setattr(guard, "strict", False)
    inner = InMemorySpanExporter()
    spans = [ReadableSpan("ask", attributes={"input.value": "I am Ann.", "n": 1}), *SPANS]

    MarkingExporter(inner, change, hides=True).export(spans)  # type: ignore[arg-type]

    found = inner.get_finished_spans()
    assert [span.name for span in found] == ["ask", "ask", "query", "answer"]
    assert dict(found[0].attributes or {}) == {"n": 1}


def test_an_exporter_may_lack_what_only_the_sdks_classes_have() -> None:
    """One that is taken for an exporter by what it can do need not flush."""

    class Bare:
        def __init__(self) -> None:
            self.names: list[str] = []

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            self.names += [span.name for span in spans]
            return SpanExportResult.SUCCESS

    inner = Bare()
    ours = MarkingExporter(inner, upper)  # type: ignore[arg-type] # as applications have it

    assert ours.export(SPANS) is SpanExportResult.SUCCESS
    assert inner.names == ["ASK", "QUERY", "ANSWER"]
    assert ours.force_flush() is True
    ours.shutdown()


def test_switched_off_it_lets_everything_pass() -> None:
    """Where something else still holds it."""
    inner = InMemorySpanExporter()
    ours = MarkingExporter(inner, upper)
    ours.is_on = False

    ours.export(SPANS)

    assert list(inner.get_finished_spans()) == SPANS
