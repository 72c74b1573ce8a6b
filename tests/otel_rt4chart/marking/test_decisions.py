from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

from otel_rt4chart.core.guard import guard
from otel_rt4chart.marking import decisions
from otel_rt4chart.marking.decisions import TraceDecisions
from otel_rt4chart.marking.exporter import mark_and_redact
from otel_rt4chart.marking.exporter_wrapping import WrappedExporters
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.sampling import Policy, Risk, Sampler
from otel_rt4chart.spans.reading.reader import read_span as plain_view
from otel_rt4chart.spans.reading.sdk import RouteCallable

WAIT_S = 10.0
KIND = "openinference.span.kind"
LLM, SEARCH = {KIND: "LLM"}, {KIND: "RETRIEVER"}


class App:
    """An application that exports each span where it ends; `decided` marks them."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.sampler = Sampler(policy or Policy())

    @property
    def tracer(self) -> Tracer:
        """A tracer of the application."""
        return self.provider.get_tracer("app")

    def decide(self, route: RouteCallable | None = None) -> None:
        """Begin to mark."""
        change = mark_and_redact(TraceDecisions(self.sampler, route).mark, Redactor())
        WrappedExporters(self.provider, change).wrap_new()

    def ask(self, name: str = "ask", /, **inner: dict[str, str]) -> None:
        """One trace of a root and spans within it."""
        with self.tracer.start_as_current_span(name):
            for one, attributes in inner.items():
                self.tracer.start_span(one, attributes=attributes).end()

    def marks(self) -> dict[str, dict[str, object]]:
        """What we wrote on the spans that came out, by name; nothing is left out."""
        return {
            span.name: {k: v for k, v in (span.attributes or {}).items() if "rt4chart." in k}
            for span in self.exporter.get_finished_spans()
        }


class Lookups(logging.Handler):
    """A log handler whose records are spans, as some vendors have it."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self._tracer = tracer

    def emit(self, record: logging.LogRecord) -> None:
        """One span a record."""
        self._tracer.start_span("log").end()


@pytest.fixture
def in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our mistakes and the application's are swallowed and logged."""
    monkeypatch.setattr(guard, "strict", False)
    monkeypatch.setattr(guard, "_last", -1e9)


@pytest.fixture
def handlers() -> Iterator[Callable[[logging.Handler], None]]:
    """Adds handlers to the root logger for the time of a test."""
    added: list[logging.Handler] = []

    def add(one: logging.Handler) -> None:
        added.append(one)
        logging.getLogger().addHandler(one)

    yield add
    for one in added:
        logging.getLogger().removeHandler(one)


def ends(work: Callable[[], object]) -> bool:
    """Whether it comes to its end; a daemon, so that one that hangs does not hold up the tests."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(WAIT_S)
    return not thread.is_alive()


def test_a_route_callable_may_make_spans() -> None:
    """Where spans are exported one by one they come back to us at once: they pass unmarked."""
    app = App()

    def route(_: Sequence[ReadableSpan]) -> str:
        with app.tracer.start_as_current_span("lookup"):
            return "refunds"

    app.decide(route)

    assert ends(lambda: app.ask(answer=LLM))
    marks = app.marks()
    assert marks["lookup"] == {}
    assert (marks["ask"]["rt4chart.route"], len(marks)) == ("refunds", 3)


def test_a_log_handler_may_make_spans(
    in_production: None, handlers: Callable[[logging.Handler], None]
) -> None:
    """Where the route callable fails, that is logged, and the handler's span comes back to us."""
    app = App()
    handlers(Lookups(app.tracer))

    def route(_: Sequence[ReadableSpan]) -> str:
        raise ValueError("tenant")

    app.decide(route)

    assert ends(lambda: app.ask(answer=LLM))
    assert app.marks()["ask"]["rt4chart.sampled"] is True


@pytest.mark.parametrize("slow", ["_read_signals", "route"])
def test_what_takes_time_holds_up_no_other_exporter(
    slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading one trace's spans, or its route callable: other threads mark theirs meanwhile."""
    app = App(Policy(risks=frozenset({Risk.ERROR})))
    came, go = threading.Event(), threading.Event()
    plain = decisions._read_signals

    def waiting(given: Any) -> Any:  # noqa: ANN401 a span or the spans of a trace
        if threading.current_thread().name == "slow":
            came.set()
            go.wait(WAIT_S)
        return plain(given) if isinstance(given, ReadableSpan) else "refunds"

    monkeypatch.setattr(decisions, "_read_signals", waiting if slow == "_read_signals" else plain)
    app.decide(waiting if slow == "route" else None)
    held = threading.Thread(target=lambda: app.ask(answer=LLM), name="slow", daemon=True)
    held.start()
    assert came.wait(WAIT_S)

    passed = ends(lambda: app.ask("quick", answer=LLM))

    go.set()
    held.join(WAIT_S)
    assert passed
    assert app.marks()["quick"]["rt4chart.sampled"] is True


def test_a_span_that_cannot_be_read_costs_the_others_nothing(
    in_production: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is passed over; what it says in plain attributes counts, and its trace is marked."""
    app = App(Policy(rate=0.0, risks=frozenset(Risk), low_score=0.5))

    def view(record: Any) -> Any:  # noqa: ANN401 as the real one
        if record.name == "broken":
            raise TypeError("unhashable")
        return plain_view(record)

    monkeypatch.setattr(decisions, "read_span", view)
    app.decide()

    app.ask(broken={"rt4chart.force": "true"}, answer=LLM)

    assert app.marks()["ask"]["rt4chart.decision"] == "sampled"


@pytest.mark.parametrize("bound", ["per_day", "per_minute"])
def test_traces_without_an_answer_use_up_no_bound(bound: str) -> None:
    """Health checks come by the thousand: the rate alone is written on them, and no decision."""
    app = App(Policy(per_day=2 if bound == "per_day" else None,
                     per_minute=2 if bound == "per_minute" else None))  # fmt: skip
    app.decide()

    for _ in range(10):
        app.ask("health")
    app.ask(answer=LLM)

    marks = app.marks()
    assert marks["health"] == {"rt4chart.sampled": True, "rt4chart.sample_rate": 1.0}
    assert marks["ask"]["rt4chart.decision"] == "sampled"


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("answer", LLM),
        ("search", SEARCH),
        ("said", {"mlflow.spanType": '"LLM"'}),
        ("said", {"gen_ai.input.messages": "[]"}),
        ("chroma.query", {"db.system": "chroma"}),
        ("step", {"rt4chart.force": "true"}),
    ],
)
def test_what_is_decided_on(name: str, attributes: dict[str, str]) -> None:
    """A generation, a retrieval or a wish, also where no attribute names the kind."""
    app = App()
    app.decide()

    app.ask("ask", **{name: attributes})

    assert app.marks()["ask"]["rt4chart.decision"] == "sampled"


def test_a_generation_that_ends_after_its_local_root_is_decided_on() -> None:
    """A streamed answer may: it spends then, and the route that the root had holds."""
    app = App(Policy(rate=0.0, route_rates={"ask": 1.0}, per_day=1))
    app.decide()

    for number in (1, 2):
        with app.tracer.start_as_current_span("ask"):
            late = app.tracer.start_span(f"answer {number}", attributes=LLM)
        late.end()

    marks = app.marks()
    assert "rt4chart.decision" not in marks["ask"]
    assert [marks[f"answer {n}"]["rt4chart.decision"] for n in (1, 2)] == ["sampled", "over_budget"]


def test_the_route_callable_is_asked_where_there_is_an_answer_alone() -> None:
    """Spans that it makes itself, which batches bring back to us, would lead to more of them."""
    app = App()
    asked: list[str] = []

    def route(spans: Sequence[ReadableSpan]) -> str:
        asked.append(spans[0].name)
        return "refunds"

    app.decide(route)
    app.ask("health")
    app.ask(answer=LLM)

    assert asked == ["ask"]


def test_two_exporters_spend_once() -> None:
    """Each gets each trace, one after the other or both at a time."""
    app = App(Policy(per_day=2))
    second = InMemorySpanExporter()
    app.provider.add_span_processor(SimpleSpanProcessor(second))
    app.decide()

    app.ask("one", answer=LLM)
    app.ask("two", answer=LLM)

    assert app.marks()["two"]["rt4chart.decision"] == "sampled"
