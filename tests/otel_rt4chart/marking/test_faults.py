from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator

from otel_rt4chart import RT4ChartInstrumentor
from otel_rt4chart.core.guard import guard
from otel_rt4chart.marking import decisions, processor
from otel_rt4chart.marking.exporter_wrapping import WrappedExporters
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.sampling import Sampler

HANG_S = 0.3


class Ids(IdGenerator):
    """The same ids in every run."""

    def __init__(self) -> None:
        self._next = 0

    def generate_span_id(self) -> int:
        """One more."""
        self._next += 1
        return self._next

    generate_trace_id = generate_span_id


def raising(*_: object, **__: object) -> Any:  # noqa: ANN401 it stands in for anything
    """A mistake of ours."""
    raise ValueError("ours")


def hanging(*_: object, **__: object) -> Any:  # noqa: ANN401
    """Something that takes its time and then says nothing."""
    time.sleep(HANG_S)


def garbage(*_: object, **__: object) -> Any:  # noqa: ANN401
    """Something that nobody can use."""
    return object()


PLACES: list[tuple[object, str]] = [
    (processor, "copy_baggage"),
    (WrappedExporters, "wrap_new"),
    (decisions.TraceDecisions, "mark"),
    (decisions.TraceDecisions, "_gather"),
    (decisions.TraceDecisions, "_decide"),
    (decisions.TraceDecisions, "_mark_span"),
    (decisions, "read_span"),
    (decisions, "signals_of"),
    (decisions, "copy_with_attributes"),
    (Sampler, "choose"),
]


@pytest.fixture(autouse=True)
def in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our mistakes are swallowed, as they are outside of tests."""
    monkeypatch.setattr(guard, "strict", False)
    monkeypatch.setenv("RT4CHART_RISKS", "all")
    monkeypatch.setenv("RT4CHART_BAGGAGE", "true")


def run(**instrumented: object) -> tuple[str, float, list[dict[str, object]]]:
    """An application's output, its seconds, and the spans that it exports, without our marks."""
    spans, provider = InMemorySpanExporter(), TracerProvider(id_generator=Ids())
    provider.add_span_processor(BatchSpanProcessor(spans))
    if instrumented:
        RT4ChartInstrumentor().instrument(tracer_provider=provider, **instrumented)
    began = time.perf_counter()
    output = ask(provider)
    seconds = time.perf_counter() - began
    provider.shutdown()
    if instrumented:
        RT4ChartInstrumentor().uninstrument()
    return output, seconds, [shown(span) for span in spans.get_finished_spans()]


def ask(provider: TracerProvider) -> str:
    """One request with every kind of span, one of which fails."""
    tracer = provider.get_tracer("app")
    kind = "openinference.span.kind"
    with tracer.start_as_current_span("ask", attributes={kind: "CHAIN", "input.value": "q"}):
        with tracer.start_as_current_span("search", attributes={kind: "RETRIEVER"}) as span:
            span.set_attribute("retrieval.documents.0.document.content", "14 days")
        try:
            with tracer.start_as_current_span("broken"):
                raise KeyError("theirs")
        except KeyError as error:
            said = str(error)
        with tracer.start_as_current_span("answer", attributes={kind: "LLM"}) as span:
            span.set_attribute("output.value", "30 days")
            span.add_event("first token", {"n": 1})
    return said


def shown(span: ReadableSpan) -> dict[str, object]:
    """All of a span but its times and our marks."""
    context, parent = span.get_span_context(), span.parent
    attributes = span.attributes or {}
    return {
        "name": span.name,
        "ids": context and (context.trace_id, context.span_id),
        "parent": parent and parent.span_id,
        "attributes": {k: v for k, v in attributes.items() if not k.startswith("rt4chart.")},
        "events": [event.name for event in span.events],
        "status": span.status.status_code,
        "dropped": (span.dropped_attributes, span.dropped_events),
    }


@pytest.mark.parametrize("fault", [raising, hanging, garbage])
@pytest.mark.parametrize(("holder", "name"), PLACES, ids=[name for _, name in PLACES])
def test_no_fault_of_ours_changes_the_application(
    holder: object, name: str, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says and every span it exports are as without us."""
    said, _, spans = run()
    monkeypatch.setattr(holder, name, fault)

    said_with_us, _, spans_with_us = run(sample_rate=1.0)

    assert (said_with_us, spans_with_us) == (said, spans)


@pytest.mark.parametrize("fault", [raising, hanging, garbage])
def test_a_route_callable_may_do_anything(fault: Callable[..., Any]) -> None:
    """It is the application's own, and runs where spans are exported."""
    said, _, spans = run()

    assert run(route=fault)[::2] == (said, spans)


def test_what_hangs_in_the_exporter_does_not_hold_up_the_application(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its threads only end spans; deciding is done where they are exported."""
    monkeypatch.setattr(decisions.TraceDecisions, "mark", hanging)

    _, seconds, _ = run(sample_rate=1.0)

    assert seconds < HANG_S


@pytest.mark.parametrize("fault", [raising, garbage])
def test_what_cannot_be_redacted_leaves_without_its_texts(
    fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here alone the spans may differ: a text that was to be hidden must not get out."""
    monkeypatch.setattr(Redactor, "attributes", fault)

    _, _, spans = run(redact=str.upper)

    assert len(spans) == 4
    assert not [text for one in spans for text in one["attributes"].values() if text]  # type: ignore[attr-defined]


def test_spans_and_their_order_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a fault the application's spans differ by our marks alone."""
    marked: list[Sequence[ReadableSpan]] = []
    plain = decisions.TraceDecisions.mark

    def mark(self: decisions.TraceDecisions, spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
        found = plain(self, spans)
        marked.append(found)
        return found

    monkeypatch.setattr(decisions.TraceDecisions, "mark", mark)

    assert run()[::2] == run(sample_rate=1.0)[::2]
    assert [
        (one.attributes or {}).get("rt4chart.sampled") for spans in marked for one in spans
    ] == [None, None, True, True]
