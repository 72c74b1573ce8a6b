from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from opentelemetry.instrumentation.utils import is_instrumentation_enabled
from opentelemetry.sdk.trace import ReadableSpan

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import guard
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.inline import Decision, Verdict
from otel_rt4chart.redaction import build_redactor
from otel_rt4chart.sampling import Layers, Policy
from otel_rt4chart.verify import (
    Action,
    CheckPlan,
    Exchange,
    Report,
    RulesJudge,
    Verifier,
    revised,
)
from otel_rt4chart.verify.pipeline import EVERY_CHECK
from tests.otel_rt4chart.inline.app import KIND, PASSAGE, App, rules


@contextmanager
def running(app: App) -> Iterator[App]:
    """An application that is closed in the end."""
    try:
        yield app
    finally:
        app.close()


class Watching(Verifier):
    """The real verifier; notes what it was given, and waits where it is told to."""

    def __init__(self) -> None:
        super().__init__(RulesJudge())
        self.seen: list[Exchange] = []
        self.plans: list[CheckPlan] = []
        self.enabled: list[bool] = []
        self.go = threading.Event()
        self.go.set()
        self.begun = threading.Event()

    def verify(
        self, exchange: Exchange, *, strict: bool = False, plan: CheckPlan = EVERY_CHECK
    ) -> Report:
        """As ever."""
        self.seen.append(exchange)
        self.plans.append(plan)
        self.enabled.append(is_instrumentation_enabled())
        self.begun.set()
        self.go.wait(20)
        return super().verify(exchange, strict=strict, plan=plan)


def test_an_answer_is_verified_and_told_in_three_ways() -> None:
    """A carrier with one link, an event on the answer's span, and metrics."""
    with running(App()) as app:
        app.ask()
        assert app.flush()

        (carrier,), (event,) = app.carriers, app.events
        target = next(s for s in app.own if s.name == "answer").get_span_context()
        assert target is not None
        assert app.decisions == {"verified": 1}
        (link,) = carrier.links
        assert (link.context.trace_id, link.context.span_id) == (target.trace_id, target.span_id)
        assert event.log_record.span_id == target.span_id
        assert app.metrics["rt4chart.answers"] == [
            (
                {
                    "rt4chart.route": "/ask",
                    "rt4chart.decision": "verified",
                    "rt4chart.label": "contradicted",
                },
                1,
            )
        ]


@pytest.mark.parametrize("place", list(CarrierPlace))
def test_a_verdict_stands_below_its_answer_or_alone(place: CarrierPlace) -> None:
    """By default a trace viewer shows it beside the answer; it is read as no part of the trace."""
    with running(App(carrier=place)) as app:
        app.ask()
        assert app.flush()
        assert app.flush()

        (carrier,) = app.carriers
        target = next(s for s in app.own if s.name == "answer").get_span_context()
        assert target is not None
        parent = carrier.parent and (carrier.parent.trace_id, carrier.parent.span_id)
        below = (target.trace_id, target.span_id) if place is CarrierPlace.TRACE else None
        assert parent == below
        assert app.decisions == {"verified": 1}


def test_citations_outside_the_sample_are_checked_in_the_background() -> None:
    """Nothing is checked while the request runs, and without a judge afterwards."""
    with running(App(policy=Policy(rate=0.0), build=fail, clock=lambda: 10**18)) as app:
        app.ask(answer="It lasts 14 days [p1]. Refunds take 5 days [doc-9].")
        before = app.metrics
        assert app.flush()

        route = {"rt4chart.route": "/ask"}
        assert "rt4chart.citations" not in before
        assert app.metrics["rt4chart.citations"] == [(route, 2)]
        assert app.metrics["rt4chart.citation_errors"] == [(route, 1)]
        assert app.decisions == {"not_sampled": 1}


def fail() -> Verifier:
    """A judge that must not be built."""
    raise SettingsError("no answer is in the sample")


def test_the_checks_of_an_answer_are_those_of_its_route() -> None:
    """RT4CHART_LAYERS holds in this process, too."""
    watching = Watching()
    layers = Layers({"/ask": {"sycophancy": 0.0, "cherry_picking": 0.0}})
    with running(App(build=lambda: watching, layers=layers)) as app:
        app.ask()
        assert app.flush()

    assert watching.plans == [CheckPlan(1.0, 0.0, 0.0)]


def test_a_quiet_trace_is_verified_without_being_asked_to() -> None:
    """A second after its root has ended, by a clock that goes on."""
    with running(App()) as app:
        app.ask()

        done = threading.Event()
        for _ in range(100):
            if app.decisions or done.wait(0.1):
                break
        assert app.decisions == {"verified": 1}


def test_every_candidate_has_one_decision() -> None:
    """Sampled or not, with content or without."""
    with running(App(policy=Policy(rate=0.5))) as app:
        for _ in range(20):
            app.ask()
        app.ask(answer="")
        app.ask(answer="__REDACTED__")
        app.flush()

        decisions = app.decisions
        assert sum(decisions.values()) == 22
        assert set(decisions) == {"verified", "not_sampled", "no_answer", "redacted"}
        assert len(app.carriers) == decisions["verified"]


def test_the_daily_budget_is_a_decision() -> None:
    """What is over it is told as such."""
    with running(App(policy=Policy(rate=1.0, per_day=1))) as app:
        app.ask()
        app.ask()
        app.flush()

        assert app.decisions == {"verified": 1, "over_budget": 1}


def test_a_trace_that_lost_a_span_is_not_judged() -> None:
    """A passage that was dropped may be what bears the answer out."""
    watching = Watching()
    watching.go.clear()
    with running(App(build=lambda: watching, queue_size=4)) as app:
        app.ask()
        app.inline.force_flush(1)
        assert watching.begun.wait(10)
        tracer = app.provider.get_tracer("app")
        with tracer.start_as_current_span("root"):
            for _ in range(4):
                tracer.start_span("something").end()
            tracer.start_span("search", attributes={KIND: "RETRIEVER"}).end()
            watching.go.set()
            app.flush()
            answer = {KIND: "LLM", "output.value": "The trial lasts 30 days."}
            tracer.start_span("answer", attributes=answer).end()
        app.flush()

        assert app.decisions == {"verified": 1, "queue_full": 1}
        assert app.inline.counts["spans.queue_full"] == 1
        assert app.metrics["rt4chart.spans.dropped"] == [({"rt4chart.reason": "queue_full"}, 1)]


def test_the_judge_is_built_in_the_thread_and_its_calls_are_not_traced() -> None:
    """Nothing is loaded while nothing is asked; instrumentations see that they are not wanted."""
    watching, built = Watching(), []

    def build() -> Verifier:
        built.append(threading.current_thread().name)
        return watching

    with running(App(build=build)) as app:
        app.provider.get_tracer("app").start_span("no answer").end()
        app.flush()
        assert built == []
        app.ask()
        app.ask()
        app.flush()

    assert built == ["rt4chart-inline"]
    assert watching.enabled == [False, False]


def test_a_judge_that_cannot_be_built_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """The application goes on, and the answers are errors, each with an event that says so."""

    def build() -> Verifier:
        raise SettingsError("expected a key, got none")

    with running(App(build=build)) as app:
        app.ask()
        app.ask()
        app.flush()

        assert app.decisions == {"error": 2}
        assert caplog.text.count("expected a key, got none") == 1
        assert [(e.log_record.attributes or {})["error.type"] for e in app.events] == [
            "SettingsError"
        ] * 2


def test_the_route_callable_sees_the_whole_trace() -> None:
    """The local root first; it names the route where the application did not."""
    seen: list[list[str]] = []

    def route(spans: Sequence[ReadableSpan]) -> str | None:
        seen.append([span.name for span in spans])
        return "mine"

    with running(App(route=route)) as app:
        app.ask()
        app.flush()

        assert seen == [["ask", "search", "answer"]]
        assert dict(app.carriers[0].attributes or {})["rt4chart.route"] == "mine"


def test_texts_are_redacted_before_they_are_judged() -> None:
    """Ranges and evidence are of the text that is shown."""
    watching = Watching()
    app = App(build=lambda: watching, redactor=build_redactor("mask"))
    with running(app):
        app.ask(
            answer="Write to bob@example.com. The trial lasts 30 days.",
            passage="Write to bob@example.com. " + PASSAGE,
        )
        app.flush()

        assert watching.seen[0].answer == "Write to [email]. The trial lasts 30 days."
        said = dict(app.carriers[0].attributes or {})
        assert "bob" not in json.dumps(said)
        claims = json.loads(str(said["rt4chart.claims"]))
        ranges = [watching.seen[0].answer[one["start"] : one["end"]] for one in claims]
        assert "30 days" in ranges


def test_dropped_texts_are_judged_here_and_told_nowhere() -> None:
    """By a judge in this process; one that sends them is not asked."""
    with running(App(redactor=build_redactor("drop"))) as app:
        app.ask()
        app.flush()

        said = json.dumps(dict(app.carriers[0].attributes or {}))
        assert app.decisions == {"verified": 1}
        assert "trial" not in said
        assert "30" not in json.loads(said)["rt4chart.claims"]


def test_text_that_stood_on_no_span_is_not_told() -> None:
    """Content that was held back from telemetry is verified, and stays back."""
    from dataclasses import replace

    from otel_rt4chart.spans.model.record import SpanRecord

    def complete(record: SpanRecord) -> SpanRecord:
        if record.name != "answer":
            return record
        texts = {**record.attributes, "output.value": "The trial lasts 30 days."}
        return replace(record, attributes=texts)

    with running(App(complete=complete)) as app:
        app.ask(answer="")
        app.flush()

        said = dict(app.carriers[0].attributes or {})
        assert said["rt4chart.label"] == "contradicted"
        assert "trial" not in json.dumps(said)


def test_threads_and_tasks_are_all_seen() -> None:
    """Whoever ends a span, whenever."""

    async def several(app: App) -> None:
        await asyncio.gather(*(asyncio.to_thread(app.ask) for _ in range(20)))

    with running(App()) as app:
        asyncio.run(several(app))
        app.flush()

        assert app.decisions == {"verified": 20}


def test_a_flush_ends_with_its_time() -> None:
    """False says that there is more to come."""
    watching = Watching()
    watching.go.clear()
    with running(App(build=lambda: watching, stop_s=5.0)) as app:
        app.ask()
        assert not app.inline.force_flush(50)
        watching.go.set()
        assert app.flush()
        assert app.decisions == {"verified": 1}


def test_shutting_down_verifies_what_is_queued() -> None:
    """Also where a root has not ended; afterwards spans are ignored."""
    app = App()
    with running(app):
        app.ask()

    assert app.decisions == {"verified": 1}
    assert len(app.carriers) == 1
    app.ask()
    assert app.inline.counts["spans.taken"] == 3


def test_what_is_left_at_the_deadline_is_an_error() -> None:
    """The answer in hand, those behind it, and none of them twice."""
    watching = Watching()
    watching.go.clear()
    app = App(build=lambda: watching, stop_s=0.2)
    for _ in range(3):
        app.ask()
    app.inline.force_flush(1)
    assert watching.begun.wait(10)
    app.ask()

    app.close()
    thread = app.inline._thread
    watching.go.set()
    assert thread is not None
    thread.join(10)

    assert app.decisions == {"error": 4}


def test_an_uncaught_error_in_a_judge_is_logged_by_its_type(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its message may quote what users wrote."""

    class Failing(Verifier):
        def verify(
            self, exchange: Exchange, *, strict: bool = False, plan: CheckPlan = EVERY_CHECK
        ) -> Report:
            raise ValueError(exchange.answer)

    with running(App(build=lambda: Failing(RulesJudge()))) as app, caplog.at_level(logging.DEBUG):
        app.ask()
        app.flush()

        assert app.decisions == {"error": 1}
        assert (app.events[0].log_record.attributes or {})["error.type"] == "ValueError"
        assert "trial" not in caplog.text


def test_rules_need_nothing() -> None:
    """The helper of these tests is the real thing."""
    assert rules().judge.id.startswith("rules/")


def test_the_application_gets_each_verdict_with_its_advice() -> None:
    """After it was emitted, in the thread that verifies."""
    told: list[tuple[Verdict, str]] = []
    with running(
        App(on_verdict=lambda verdict: told.append((verdict, threading.current_thread().name)))
    ) as app:
        app.ask()
        assert app.flush()

        ((verdict, thread),) = told
        assert thread == "rt4chart-inline"
        assert verdict.report is not None
        advice = verdict.report.advice
        assert advice.action is Action.REVISE
        assert (
            revised(verdict.candidate.exchange.answer, advice.edits) == "The trial lasts 14 days."
        )


def test_an_answer_that_is_not_verified_is_told_too() -> None:
    """An application that holds answers waits for each of them."""
    told: list[Verdict] = []
    with running(App(policy=Policy(rate=0.0), on_verdict=told.append)) as app:
        app.ask()
        assert app.flush()

    assert [(one.decision, one.report) for one in told] == [(Decision.NOT_SAMPLED, None)]


@pytest.mark.parametrize(
    "kind", [RuntimeError, SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit]
)
def test_a_callback_that_raises_is_counted_and_hurts_nothing(
    caplog: pytest.LogCaptureFixture, kind: type[BaseException]
) -> None:
    """The verdicts are emitted, and the log names the type alone."""

    def failing(verdict: Verdict) -> None:
        raise kind("with a secret")

    strict, guard.strict = guard.strict, False
    try:
        with running(App(on_verdict=failing)) as app:
            app.ask()
            app.ask()
            assert app.flush()

            assert app.decisions == {"verified": 2}
            assert len(app.carriers) == 2
            assert app.inline.counts["callback.failed"] == 2
            assert app.metrics["rt4chart.callback.failures"] == [({}, 2)]
    finally:
        guard.strict = strict
    assert "secret" not in caplog.text
