from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.inline.answer_gatherer import Answer, AnswerGatherer
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.spans.reading.sdk import RouteCallable

KIND = "openinference.span.kind"
DOCUMENTS = '[{"document.id": "p1", "document.content": "The trial lasts 14 days."}]'


def turns(**routes: str | None) -> Sequence[ReadableSpan]:
    """A trace of several turns, by their names with the routes that they name."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("app")
    with tracer.start_as_current_span("root"):
        for name, route in routes.items():
            with tracer.start_as_current_span(name, attributes={KIND: "CHAIN"}):
                found = {KIND: "RETRIEVER", "retrieval.documents": DOCUMENTS}
                tracer.start_span("search", attributes=found).end()
                said = {KIND: "LLM", "output.value": f"It lasts 14 days, {name}."}
                named = {"rt4chart.route": route} if route else {}
                tracer.start_span("answer", attributes={**said, **named}).end()
    return exporter.get_finished_spans()


def gathered(
    spans: Sequence[ReadableSpan], route: RouteCallable | None = None, unreadable: str = ""
) -> list[Answer]:
    """The answers in the spans, one of which may be unreadable by its name."""

    def complete(record: SpanRecord) -> SpanRecord:
        if record.name == unreadable:
            raise ValueError(record.name)
        return record

    gatherer = AnswerGatherer(route=route, complete=complete)
    gatherer.add(spans, 1)
    return gatherer.close_all()


def routes(answers: Sequence[Answer]) -> list[tuple[str, str]]:
    """Of each answer: its own, and the one by which it is drawn."""
    return [(one.candidate.route, one.signals.route) for one in answers]


def test_each_answer_keeps_the_route_that_its_own_spans_name() -> None:
    """Two turns of one trace may be of two routes; the callable is for what names none."""
    spans = turns(one="a", two="b", three=None)

    assert routes(gathered(spans)) == [("a", "a"), ("b", "b"), ("root", "root")]
    assert routes(gathered(spans, lambda _: "mine")) == [("a", "a"), ("b", "b"), ("mine", "mine")]


def test_the_route_callable_is_asked_once_a_trace() -> None:
    """And not where every answer names its route."""
    asked: list[int] = []

    def route(spans: Sequence[ReadableSpan]) -> str:
        asked.append(len(spans))
        return "mine"

    gathered(turns(one=None, two=None), route)
    gathered(turns(one="a"), route)

    assert asked == [7]


def test_a_trace_with_an_unreadable_span_is_not_judged() -> None:
    """What could not be read may be the passage that bears the answer out."""
    (answer,) = gathered(turns(one=None), unreadable="search")

    assert answer.candidate.blocked is Decision.QUEUE_FULL
