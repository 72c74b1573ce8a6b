from __future__ import annotations

import asyncio
import logging
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points

import pytest
from opentelemetry.baggage import set_baggage
from opentelemetry.context import attach, detach
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler, TraceIdRatioBased
from opentelemetry.trace import NoOpTracerProvider, Tracer, format_trace_id

from otel_rt4chart import RT4ChartInstrumentor
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import guard
from otel_rt4chart.core.settings import load
from otel_rt4chart.sampling import force, is_sampled
from otel_rt4chart.settings.application import ApplicationSettings

KIND = {"openinference.span.kind": "LLM"}


class App:
    """An application with its own provider that exports in batches."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler)
        self.processor = BatchSpanProcessor(self.exporter)
        self.provider.add_span_processor(self.processor)

    @property
    def tracer(self) -> Tracer:
        """A tracer of the application."""
        return self.provider.get_tracer("app")

    def ask(self) -> dict[str, ReadableSpan]:
        """One request: the exported spans by name."""
        self.exporter.clear()
        with self.tracer.start_as_current_span("ask"), self.tracer.start_as_current_span("query"):
            self.tracer.start_span("answer", attributes=KIND).end()
        return self.exported()

    def exported(self) -> dict[str, ReadableSpan]:
        """What has come out by now, by name."""
        self.provider.force_flush()
        return {span.name: span for span in self.exporter.get_finished_spans()}


@pytest.fixture
def app() -> Iterator[App]:
    """An application; ours is taken out again at the end."""
    one = App()
    yield one
    RT4ChartInstrumentor().uninstrument()
    one.provider.shutdown()


def marks(span: ReadableSpan) -> dict[str, object]:
    """What we wrote on a span."""
    attributes = span.attributes or {}
    return {key: value for key, value in attributes.items() if key.startswith("rt4chart.")}


def test_the_local_root_and_the_generations_exported_with_it_are_marked(app: App) -> None:
    """The decision is on the root and on the answer; other spans are the very ones that ended."""
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


def test_the_route_callable_sees_spans_of_the_trace(app: App) -> None:
    """The local root first, then the trace's spans that are exported with it."""

    def route(spans: Sequence[ReadableSpan]) -> str | None:
        return "/".join(span.name for span in spans)

    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, route=route)

    assert marks(app.ask()["answer"])["rt4chart.route"] == "ask/answer/query"


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

    assert "RT4CHART_SAMPLE_RATE: expected a number from 0 to 1; got 'often'" in caplog.text
    assert marks(app.ask()["answer"]) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sample_rate": 2}, "^sample_rate: expected a number from 0 to 1, got 2"),
        ({"mode": "online"}, "^mode: expected one of mark, inline, got 'online'"),
        ({"route": "refunds"}, "route: expected a callable, got str"),
        ({"redact": "mask"}, "redact: expected a callable, got str"),
        ({"on_verdict": "print"}, "on_verdict: expected a callable, got str"),
        ({"on_verdict": asyncio.sleep}, "on_verdict: expected a function that is not async"),
        ({"judge": "nonsense"}, "unknown judge 'nonsense': expected one of .*rules"),
        ({"judge": "nonsense", "mode": "inline"}, "unknown judge 'nonsense'"),
        ({"samplerate": 0.1}, "expected tracer_provider, .*, got samplerate"),
    ],
)
def test_wrong_arguments_are_refused(app: App, arguments: dict[str, object], message: str) -> None:
    """A mistake in the code is told where it is made."""
    with pytest.raises(SettingsError, match=message):
        RT4ChartInstrumentor().instrument(tracer_provider=app.provider, **arguments)


def test_a_judge_that_is_not_asked_is_told(app: App, caplog: pytest.LogCaptureFixture) -> None:
    """In the mode that only marks, the service's judge rules."""
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, judge="rules")

    assert "judge='rules' is ignored: in mode='mark' the service chooses the judge" in caplog.text


def test_a_route_that_is_no_text_is_told(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The spans have the other marks, the log says what was wrong."""
    monkeypatch.setattr(guard, "strict", False)
    monkeypatch.setattr(guard, "_last", -math.inf)
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, route=len)

    found = marks(app.ask()["ask"])

    assert found["rt4chart.sampled"] is True
    assert "rt4chart.route" not in found
    assert "the route callable failed (TypeError)" in caplog.text


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    """As everywhere in OpenTelemetry; compose files write them so."""
    assert load(ApplicationSettings, environ={"RT4CHART_SAMPLE_RATE": ""}) == ApplicationSettings()


FORK = """
import os, signal
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otel_rt4chart import RT4ChartInstrumentor
from otel_rt4chart.marking.decisions import TraceDecisions
import gc
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
RT4ChartInstrumentor().instrument(tracer_provider=provider)
(ours,) = [one for one in gc.get_objects() if isinstance(one, TraceDecisions)]
with ours._lock:
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        provider.get_tracer("app").start_span("answer").end()
        (span,) = exporter.get_finished_spans()
        os._exit(span.attributes["rt4chart.sampled"] is not True)
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


def test_uninstrument_leaves_the_provider_as_it_was(app: App) -> None:
    """Its processors and their exporters are the application's own again, and nothing is marked."""
    before = app.provider._active_span_processor._span_processors
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider)
    RT4ChartInstrumentor().uninstrument()

    assert marks(app.ask()["ask"]) == {}
    assert app.provider._active_span_processor._span_processors == before
    assert app.processor.span_exporter is app.exporter


def test_instrumenting_twice_marks_once(app: App) -> None:
    """The base class warns; a second object of ours is the same one."""
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, sample_rate=0.5)
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, sample_rate=0.1)

    assert marks(app.ask()["ask"])["rt4chart.sample_rate"] == 0.5


def test_the_order_of_setting_up_does_not_matter(app: App) -> None:
    """An exporter that is added after instrumenting gets marked spans too."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    RT4ChartInstrumentor().instrument(tracer_provider=provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    provider.get_tracer("app").start_span("ask").end()

    (span,) = exporter.get_finished_spans()
    assert marks(span)["rt4chart.sampled"] is True


def test_baggage_of_whoever_sends_a_request_counts_for_nothing(app: App) -> None:
    """Unless it is switched on: else any user could have answers verified, or name their route."""
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, sample_rate=0.0)
    token = attach(set_baggage("rt4chart.route", "support", set_baggage("rt4chart.force", "true")))

    found = marks(app.ask()["ask"])
    detach(token)

    assert (found["rt4chart.sampled"], found["rt4chart.decision"]) == (False, "not_sampled")
    assert found.keys().isdisjoint({"rt4chart.route", "rt4chart.force"})


def test_baggage_names_the_route_and_asks_for_a_verdict(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set once at the edge, it reaches every process of the request."""
    monkeypatch.setenv("RT4CHART_BAGGAGE", "true")
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, sample_rate=0.0)
    token = attach(set_baggage("rt4chart.route", "support", set_baggage("rt4chart.force", "true")))

    found = marks(app.ask()["ask"])
    detach(token)

    assert found == {
        "rt4chart.route": "support", "rt4chart.force": True, "rt4chart.sampled": True,
        "rt4chart.sample_rate": 1.0, "rt4chart.decision": "sampled",
    }  # fmt: skip


def test_force_asks_for_the_answer_that_is_being_made(app: App) -> None:
    """From any span of the trace, whatever the rate."""
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, sample_rate=0.0)
    with app.tracer.start_as_current_span("ask"), app.tracer.start_as_current_span("query"):
        force()

    assert marks(app.exported()["ask"])["rt4chart.decision"] == "sampled"


def test_each_route_has_its_rate(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the server span's HTTP route, which is known when it ends."""
    monkeypatch.setenv("RT4CHART_ROUTE_RATES", "/support/*=0.25")
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider)
    with app.tracer.start_as_current_span("POST") as span:
        span.set_attribute("http.route", "/support/{id}")

    assert marks(app.exported()["POST"])["rt4chart.sample_rate"] == 0.25


def test_what_is_redacted_does_not_reach_the_exporter(app: App) -> None:
    """Texts of attributes and events; what comes out of the application stays as it is."""
    RT4ChartInstrumentor().instrument(
        tracer_provider=app.provider, redact=lambda text: text.replace("Ann", "[name]")
    )
    with app.tracer.start_as_current_span("ask", attributes={"input.value": "I am Ann."}) as span:
        span.add_event("said", {"output.value": "Hello Ann."})

    found = app.exported()["ask"]
    assert (found.attributes or {})["input.value"] == "I am [name]."
    assert (found.events[0].attributes or {})["output.value"] == "Hello [name]."


def test_head_sampling_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """What a sampler drops nobody can verify, and nobody would notice."""
    app = App(TraceIdRatioBased(0.1))
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider)
    RT4ChartInstrumentor().uninstrument()

    assert "the sampler TraceIdRatioBased{0.1} drops are not verified" in caplog.text


def test_the_inline_mode_reads_the_baggage_too(
    app: App, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without redaction, and without an exporter, which it has no need of."""
    monkeypatch.setenv("RT4CHART_BAGGAGE", "true")
    provider = TracerProvider()
    ended: list[ReadableSpan] = []
    RT4ChartInstrumentor().instrument(
        tracer_provider=provider, mode="inline", judge="rules", sample_rate=0.0
    )
    token = attach(set_baggage("rt4chart.route", "support", set_baggage("rt4chart.force", "true")))
    with provider.get_tracer("app").start_as_current_span("ask") as span:
        ended.append(span)  # type: ignore[arg-type] # the SDK's own span is readable
    detach(token)
    RT4ChartInstrumentor().uninstrument()

    assert marks(ended[0]) == {"rt4chart.route": "support", "rt4chart.force": True}
    assert "spans are not marked" not in caplog.text
    assert provider._active_span_processor._span_processors == ()


def test_it_is_found_by_auto_instrumentation() -> None:
    """`opentelemetry-instrument` loads it by its entry point."""
    (entry,) = entry_points(group="opentelemetry_instrumentor", name="rt4chart")

    assert entry.load() is RT4ChartInstrumentor


def test_the_inline_mode_redacts_what_is_exported_too(app: App) -> None:
    """The application's spans and the verdict: nothing leaves that was to be hidden."""
    RT4ChartInstrumentor().instrument(
        tracer_provider=app.provider, mode="inline", judge="rules",
        redact=lambda text: text.replace("Ann", "[name]"),
    )  # fmt: skip
    documents = {"retrieval.documents.0.document.content": "The trial of Ann lasts 14 days."}
    with app.tracer.start_as_current_span("ask", attributes={"input.value": "Is it for Ann?"}):
        kind = {"openinference.span.kind": "RETRIEVER"}
        app.tracer.start_span("search", attributes=kind | documents).end()
        said = {"output.value": "The trial of Ann lasts 30 days."}
        app.tracer.start_span("answer", attributes=KIND | said).end()

    spans = app.exported()

    assert {"ask", "search", "answer", "rt4chart.verify"} == spans.keys()
    assert "Ann" not in str([dict(one.attributes or {}) for one in spans.values()])
    assert (spans["rt4chart.verify"].attributes or {})["rt4chart.label"] == "contradicted"


@pytest.mark.parametrize("wrong", ["RT4CHART_SAMPLE_RATE", "RT4CHART_REDACT"])
def test_a_wrong_environment_lets_no_text_out_that_was_to_be_redacted(
    app: App, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is marked; the spans leave without their texts."""
    monkeypatch.setenv("RT4CHART_REDACT", "mask")
    monkeypatch.setenv(wrong, "often")
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider)
    said = {"output.value": "I am ann@example.org."}
    app.tracer.start_span("answer", attributes=KIND | said).end()

    found = app.exported()["answer"]
    assert marks(found) == {}
    assert "ann@example.org" not in str(dict(found.attributes or {}))


def test_misspelt_and_impossible_variables_are_told_at_the_start(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Not at the first answer, and with the variable's name."""
    monkeypatch.setenv("RT4CHART_SAMPLERATE", "0.1")
    monkeypatch.setenv("RT4CHART_JUDGE", "rulez")
    RT4ChartInstrumentor().instrument(tracer_provider=app.provider, mode="inline")

    assert "RT4CHART_SAMPLERATE is not known: is RT4CHART_SAMPLE_RATE meant?" in caplog.text
    assert "RT4CHART_JUDGE: unknown judge 'rulez': expected one of" in caplog.text
