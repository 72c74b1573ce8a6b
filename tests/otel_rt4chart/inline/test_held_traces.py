"""Traces of which nothing would be verified: they are counted, and not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.inline.answer_gatherer import TIMEOUTS, Answer, AnswerGatherer
from otel_rt4chart.inline.held_traces import HeldTraces, Need
from otel_rt4chart.sampling import Layers, Policy, Risk
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.spans.reading.sdk import RouteCallable
from tests.otel_rt4chart.inline.app import KIND, App

UNCHECKED = Layers({"*": {"citations": 0.0}})


def trace(
    *kinds: str, forced: int | None = None, route: str = "", text: str = ""
) -> Sequence[ReadableSpan]:
    """The ended spans of a trace: one of each kind below a root; the `forced` one asks for it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("app")
    with tracer.start_as_current_span("ask", attributes={"http.route": "/ask"}):
        for number, kind in enumerate(kinds):
            attributes: dict[str, str | bool] = {KIND: kind, "output.value": text or "Yes."}
            attributes |= {"rt4chart.force": True} if number == forced else {}
            attributes |= {"rt4chart.route": route} if route else {}
            tracer.start_span(kind.lower(), attributes=attributes).end()
    return exporter.get_finished_spans()


class Reading:
    """A gatherer that skips every trace; notes the spans that it reads and those it forgets."""

    def __init__(self, route: RouteCallable | None = None) -> None:
        self.read: list[str] = []
        self.forgotten: list[str] = []
        self.gatherer = AnswerGatherer(
            route=route, complete=self._complete, forget=self._forget, need_of=lambda _: Need.NOTHING
        )

    def _complete(self, record: SpanRecord) -> SpanRecord:
        self.read.append(record.name)
        return record

    def _forget(self, spans: Iterable[ReadableSpan]) -> None:
        self.forgotten += [span.name for span in spans]

    def answers(self, *spans: ReadableSpan) -> list[Answer]:
        """Of these spans."""
        self.gatherer.add(spans, 1)
        return self.gatherer.close_all()


def test_an_answer_outside_the_sample_is_counted_without_being_read() -> None:
    """One for a trace, by its route; messages that were stored for it are dropped."""
    reading = Reading()

    (answer,) = reading.answers(*trace("RETRIEVER", "LLM", "LLM"))

    assert answer.candidate.blocked is Decision.NOT_SAMPLED
    assert answer.candidate.route == "/ask"
    assert reading.read == []
    assert reading.forgotten == ["retriever", "llm", "llm", "ask"]


def test_a_trace_without_a_generation_or_a_retrieval_is_not_counted() -> None:
    """Other requests of the application are no answers."""
    assert Reading().answers(*trace("TOOL", "CHAIN")) == []


@pytest.mark.parametrize("forced", [0, 1])
def test_a_forced_trace_is_read_whole(forced: int) -> None:
    """Also with the spans that ended before the one that forces, and those that end after it."""
    reading = Reading()

    (answer,) = reading.answers(*trace("RETRIEVER", "LLM", forced=forced))

    assert answer.signals.forced
    assert answer.candidate.exchange.answer == "Yes."
    assert reading.read == ["retriever", "llm", "ask"]


def test_the_route_is_the_spans_own_or_the_callables() -> None:
    """In this order, as for an answer that is read; the callable sees the root first."""
    seen: list[str] = []

    def route(spans: Sequence[ReadableSpan]) -> str:
        seen.append(spans[0].name)
        return "mine"

    (own,) = Reading(route).answers(*trace("LLM", route="own"))
    (named,) = Reading(route).answers(*trace("LLM"))

    assert (own.candidate.route, named.candidate.route) == ("own", "mine")
    assert seen == ["ask"]


def test_a_late_span_does_not_count_its_trace_again() -> None:
    """A streamed generation may end after its request."""
    *early, late = trace("RETRIEVER", "LLM")
    reading = Reading()

    assert len(reading.answers(*early)) == 1
    assert reading.answers(late) == []


def test_what_is_held_is_bounded() -> None:
    """The oldest traces are counted early, and their texts are let go."""
    held = HeldTraces(lambda _: Need.NOTHING, TIMEOUTS, max_bytes=100_000)
    for _ in range(20):
        for span in trace("LLM", text="word " * 4_000):
            assert held.take(span, 1, lambda _: False) == ()

    assert held.size <= 100_000
    assert len(held.close_all()) == 20
    assert held.size == 0


def test_a_trace_is_closed_when_its_time_is_over() -> None:
    """As one that is read: a second after its root, a minute without one."""
    root_last = trace("LLM")
    held = HeldTraces(lambda _: Need.NOTHING, TIMEOUTS)
    orphan, _ = trace("LLM")
    for span in (*root_last, orphan):
        held.take(span, 0, lambda _: False)

    assert held.close(TIMEOUTS.quiet_ns - 1) == []
    assert len(held.close(TIMEOUTS.quiet_ns)) == 1
    assert len(held.close(TIMEOUTS.orphan_ns)) == 1


def unread(record: SpanRecord) -> SpanRecord:
    """Raises: nothing is to be read."""
    raise AssertionError(record.name)


def test_an_application_that_checks_nothing_reads_nothing() -> None:
    """With a rate of 0 and without citations, each answer is a decision and nothing else."""
    app = App(policy=Policy(rate=0.0), layers=UNCHECKED, complete=unread)
    app.ask()
    app.ask()
    assert app.flush()

    assert app.decisions == {"not_sampled": 2}
    counted = {"rt4chart.route": "/ask", "rt4chart.decision": "not_sampled"}
    assert app.metrics["rt4chart.answers"] == [(counted, 2)]
    app.close()


NEVER = Policy(rate=0.0)
BY_ROUTE = Layers({"*": {"citations": 0.0}, "/a*": {"citations": 1.0}})


@pytest.mark.parametrize(
    "wanted",
    [
        {"policy": NEVER},
        {"policy": NEVER, "layers": BY_ROUTE},
        {"policy": Policy(rate=0.0, route_rates={"legal": 1.0}), "layers": UNCHECKED},
        {"policy": Policy(rate=0.0, risks=frozenset({Risk.ERROR})), "layers": UNCHECKED},
        {"policy": NEVER, "layers": UNCHECKED, "on_verdict": lambda verdict: None},
    ],
    ids=["citations of all", "citations of a route", "a route's rate", "a risk rule", "a callback"],
)
def test_whatever_may_choose_an_answer_lets_it_be_read(wanted: dict[str, Any]) -> None:
    """A route is known only when the trace is read."""
    read: list[str] = []

    def noted(record: SpanRecord) -> SpanRecord:
        read.append(record.name)
        return record

    app = App(complete=noted, **wanted)
    app.ask()
    assert app.flush()

    assert sorted(read) == ["answer", "ask", "search"]
    assert app.decisions == {"not_sampled": 1}
    app.close()
