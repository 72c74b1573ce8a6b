"""Traces of which nothing would be verified: they are counted, and read only where they cite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.inline.answer_gatherer import TIMEOUTS, Answer, AnswerGatherer
from otel_rt4chart.inline.held_traces import HasMessages, HeldTraces, Need, NeedOf
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
    """A gatherer that holds every trace; notes the spans that it reads and those it forgets."""

    def __init__(
        self,
        route: RouteCallable | None = None,
        need_of: NeedOf = lambda _: Need.NOTHING,
        has_messages: HasMessages = lambda _: False,
    ) -> None:
        self.read: list[str] = []
        self.forgotten: list[str] = []
        self.gatherer = AnswerGatherer(
            route=route,
            complete=self._complete,
            forget=self._forget,
            need_of=need_of,
            has_messages=has_messages,
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
            assert not held.take(span, 1, lambda _: False)

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


def needs_citations(trace_id: str) -> Need:
    """Of every trace the citations are checked."""
    return Need.CITATIONS


ALL = ["retriever", "llm", "ask"]
CITES = "It lasts 14 days [1]."


def test_an_answer_that_may_cite_is_read() -> None:
    """Nothing is lost by having waited."""
    reading = Reading(need_of=needs_citations)

    (answer,) = reading.answers(*trace("RETRIEVER", "LLM", text=CITES))

    assert (reading.read, answer.candidate.blocked) == (ALL, None)
    assert answer.candidate.exchange.answer == CITES


def test_an_answer_that_cites_nothing_is_not_read() -> None:
    """It is counted by its route."""
    reading = Reading(need_of=needs_citations)

    (answer,) = reading.answers(*trace("RETRIEVER", "LLM"))

    assert (reading.read, answer.candidate.blocked) == ([], Decision.NOT_SAMPLED)
    assert answer.candidate.route == "/ask"


def test_a_trace_that_is_read_late_is_due_at_once() -> None:
    """A second after its root, and no second later; unless enough answers wait."""
    gatherer = Reading(need_of=needs_citations).gatherer
    gatherer.add(trace("RETRIEVER", "LLM", text=CITES), 0)

    assert gatherer.close(TIMEOUTS.quiet_ns - 1, 1) == []
    assert gatherer.close(TIMEOUTS.quiet_ns, 0) == []
    assert len(gatherer.close(TIMEOUTS.quiet_ns, 1)) == 1


def test_a_trace_with_stored_messages_is_read_at_once() -> None:
    """They are kept for a bounded number of spans, and may be the answer."""
    reading = Reading(need_of=needs_citations, has_messages=lambda span: span.name == "llm")
    *early, root = trace("RETRIEVER", "LLM")

    reading.gatherer.add(early, 1)
    assert reading.read == ["retriever", "llm"]
    reading.gatherer.add([root], 1)
    assert reading.read == ALL


def test_a_trace_that_lost_a_span_is_read() -> None:
    """It is `queue_full`, also where the rest cites nothing."""
    reading = Reading(need_of=needs_citations)
    spans = trace("RETRIEVER", "LLM")
    context = spans[0].get_span_context()
    assert context is not None
    reading.gatherer.lose([context.trace_id])

    (answer,) = reading.answers(*spans)

    assert answer.candidate.blocked is Decision.QUEUE_FULL


def test_a_trace_that_rates_choose_in_the_end_is_read() -> None:
    """They may change while it is open."""
    needs = [Need.CITATIONS, Need.VERDICT]
    reading = Reading(need_of=lambda _: needs.pop(0))

    (answer,) = reading.answers(*trace("RETRIEVER", "LLM"))

    assert (reading.read, answer.candidate.blocked) == (ALL, None)


def test_the_oldest_of_many_traces_is_read_early() -> None:
    """What is held is bounded, and no trace is split."""
    held = HeldTraces(needs_citations, TIMEOUTS, max_bytes=100_000)
    traces = [trace("RETRIEVER", "LLM", text="word " * 4_000) for _ in range(20)]
    read = [
        span
        for spans in traces
        for one in spans
        for span in held.take(one, 1, lambda _: False)
    ]  # fmt: skip

    assert held.size <= 100_000
    kept = held.close_all()
    assert read == [span for spans in traces[: -len(kept)] for span in spans]
    assert [one.spans for one in kept] == [list(spans) for spans in traces[-len(kept) :]]


def test_an_unread_answer_has_the_route_that_reading_finds() -> None:
    """The spans' own, else the callable's, which sees the root first."""
    spans = trace("RETRIEVER", "LLM"), trace("RETRIEVER", "LLM", route="own")
    for need in (Need.CITATIONS, Need.VERDICT):
        seen: list[str] = []

        def route(found: Sequence[ReadableSpan], seen: list[str] = seen) -> str:
            seen.append(found[0].name)
            return "mine"

        reading = Reading(route, lambda _, need=need: need)  # type: ignore[misc]
        named = [one.candidate.route for each in spans for one in reading.answers(*each)]

        assert (named, seen) == (["mine", "own"], ["ask"])


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


def test_an_application_reads_no_answer_that_cites_nothing() -> None:
    """By default, with a rate of 0: its citations are counted as none."""
    app = App(policy=Policy(rate=0.0), complete=unread)
    app.ask()
    app.ask(answer="It is 30 days per month (see below).")
    assert app.flush()

    assert app.decisions == {"not_sampled": 2}
    assert "rt4chart.citations" not in app.metrics
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
    app.ask(answer="It lasts 14 days [p1].")
    assert app.flush()

    assert sorted(read) == ["answer", "ask", "search"]
    assert app.decisions == {"not_sampled": 1}
    app.close()
