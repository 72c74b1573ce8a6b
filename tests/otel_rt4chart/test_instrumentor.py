from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider, Tracer, format_trace_id

from otel_rt4chart import RT4ChartInstrumentor
from otel_rt4chart.errors import SettingsError
from otel_rt4chart.sampling import is_sampled
from otel_rt4chart.settings import Settings

KIND = {"openinference.span.kind": "LLM"}


class App:
    """An application with its own provider."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def tracer(self) -> Tracer:
        """A tracer of the application."""
        return self.provider.get_tracer("app")

    def ask(self) -> dict[str, ReadableSpan]:
        """One request: the exported spans by name."""
        self.exporter.clear()
        with self.tracer.start_as_current_span("ask"), self.tracer.start_as_current_span("query"):
            self.tracer.start_span("answer", attributes=KIND).end()
        return {span.name: span for span in self.exporter.get_finished_spans()}


@pytest.fixture
def app() -> Iterator[App]:
    """An application; ours is taken out again at the end."""
    yield App()
    RT4ChartInstrumentor().uninstrument()


def marks(span: ReadableSpan) -> dict[str, object]:
    """What we wrote on a span."""
    attributes = span.attributes or {}
    return {key: value for key, value in attributes.items() if key.startswith("rt4chart.")}


def test_the_first_span_and_every_openinference_span_are_marked(app: App) -> None:
    """The decision is on the root and on the answer; other spans are left alone."""
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, sample_rate=0.5)

    spans = app.ask()

    context = spans["answer"].get_span_context()
    assert context is not None
    sampled = is_sampled(format_trace_id(context.trace_id), 0.5)
    assert marks(spans["ask"]) == marks(spans["answer"]) == {
        "rt4chart.sampled": sampled,
        "rt4chart.sample_rate": 0.5,
        "rt4chart.decision": "sampled" if sampled else "not_sampled",
    }  # fmt: skip
    assert marks(spans["query"]) == {}


def test_zero_arguments_mean_the_environment(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `opentelemetry-instrument` calls it."""
    monkeypatch.setenv("RT4CHART_SAMPLE_RATE", "0")
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: app.provider)

    RT4ChartInstrumentor().instrument()

    assert marks(app.ask()["answer"])["rt4chart.sampled"] is False


def test_the_route_callable_sees_the_open_spans(app: App) -> None:
    """The trace's first span and the span that starts."""

    def route(spans: Sequence[ReadableSpan]) -> str | None:
        return f"{spans[0].name}/{spans[-1].name}"

    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, route=route)

    assert marks(app.ask()["answer"])["rt4chart.route"] == "ask/answer"


def test_a_failing_route_costs_the_route_alone(app: App) -> None:
    """The application sees nothing of it, and the mark is there."""

    def route(_: Sequence[ReadableSpan]) -> str | None:
        raise KeyError("tenant")

    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, route=route)

    found = marks(app.ask()["answer"])
    assert found["rt4chart.sampled"] is True
    assert "rt4chart.route" not in found


def test_a_wrong_environment_is_logged_and_marks_nothing(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Instrumentation must not stop an application from starting."""
    monkeypatch.setenv("RT4CHART_SAMPLE_RATE", "often")

    RT4ChartInstrumentor().instrument(tracer_provider=app.provider)

    assert "RT4CHART_SAMPLE_RATE: expected a number such as 0.5, got 'often'" in caplog.text
    assert marks(app.ask()["answer"]) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sample_rate": 2}, "expected a number from 0 to 1, got 2"),
        ({"mode": "inline"}, "expected one of mark, got 'inline'"),
        ({"route": "refunds"}, "route: expected a callable, got str"),
        ({"redact": str.upper}, "expected tracer_provider, .*, got redact"),
    ],
)
def test_wrong_arguments_are_refused(app: App, arguments: dict[str, object], message: str) -> None:
    """A mistake in the code is told where it is made."""
    with pytest.raises(SettingsError, match=message):
        RT4ChartInstrumentor().instrument(tracer_provider=app.provider, **arguments)


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    """As everywhere in OpenTelemetry; compose files write them so."""
    assert Settings.from_environment({"RT4CHART_SAMPLE_RATE": " "}) == Settings()


FORK = """
import os, signal
from opentelemetry.sdk.trace import TracerProvider
from otel_rt4chart import RT4ChartInstrumentor
provider = TracerProvider()
RT4ChartInstrumentor().instrument(tracer_provider=provider)
with RT4ChartInstrumentor()._marker._lock:
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        provider.get_tracer("app").start_span("answer").end()
        os._exit(0)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_worker_does_not_inherit_a_held_lock() -> None:
    """A child forked while another thread marks a span starts its own spans."""
    assert subprocess.run([sys.executable, "-c", FORK], check=False).returncode == 0


def test_without_an_sdk_nothing_happens_but_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """An application without tracing runs on."""
    with caplog.at_level(logging.WARNING):
        RT4ChartInstrumentor().instrument(tracer_provider=NoOpTracerProvider())
    RT4ChartInstrumentor().uninstrument()

    assert "expected an SDK TracerProvider, got NoOpTracerProvider" in caplog.text


def test_uninstrument_stops_marking(app: App) -> None:
    """The SDK keeps the processor; it does nothing more."""
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider)
    RT4ChartInstrumentor().uninstrument()

    assert marks(app.ask()["answer"]) == {}


def test_it_is_found_by_auto_instrumentation() -> None:
    """`opentelemetry-instrument` loads it by its entry point."""
    (entry,) = entry_points(group="opentelemetry_instrumentor", name="rt4chart")

    assert entry.load() is RT4ChartInstrumentor
