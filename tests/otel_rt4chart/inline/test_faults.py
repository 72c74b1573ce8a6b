"""Whatever fails on our side, the application's spans are the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from otel_rt4chart.redaction import Redactor
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify import CheckPlan, Exchange, Report, RulesJudge, Verifier
from otel_rt4chart.verify.pipeline import EVERY_CHECK
from tests.otel_rt4chart.inline.app import App

RELEASE = threading.Event()


@pytest.fixture(autouse=True)
def released() -> Iterator[None]:
    """What hangs is let go at the end of each test."""
    RELEASE.clear()
    yield
    RELEASE.set()


def raises(*_: object, **__: object) -> object:
    """A callable of the application, or of ours, that fails."""
    raise RuntimeError("the user's secret")


def hangs(*_: object, **__: object) -> object:
    """One that does not come back."""
    RELEASE.wait(30)
    return None


def garbage(*_: object, **__: object) -> object:
    """One that returns what nobody asked for."""
    return object()


class Faulty(Verifier):
    """A verifier with another way to verify."""

    def __init__(self, fault: Callable[..., object]) -> None:
        super().__init__(RulesJudge())
        self._fault = fault

    def verify(
        self, exchange: Exchange, *, strict: bool = False, plan: CheckPlan = EVERY_CHECK
    ) -> Report:
        """The fault."""
        return self._fault(exchange)  # type: ignore[return-value]


def app_with(place: str, fault: Callable[..., object]) -> App:
    """An application with the fault at one place."""
    if place == "route":
        return App(route=fault, stop_s=0.2)
    if place == "redact":
        return App(redactor=Redactor(fault, is_on=True), stop_s=0.2)  # type: ignore[arg-type]
    if place == "build":
        return App(build=fault, stop_s=0.2)  # type: ignore[arg-type]
    if place == "verify":
        return App(build=lambda: Faulty(fault), stop_s=0.2)
    if place == "complete":
        return App(complete=fault, stop_s=0.2)
    if place == "clock":
        return App(clock=fault, stop_s=0.2)
    app = App(stop_s=0.2)
    setattr(app.emitter, place, fault)
    return app


PLACES = ["route", "redact", "build", "verify", "complete", "clock", "emit"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fault", [raises, hangs, garbage])
def test_the_applications_spans_are_the_same(
    place: str, fault: Callable[..., object], caplog: pytest.LogCaptureFixture
) -> None:
    """With their attributes, in their order, whatever fails; and nothing waits."""
    plain, app = App(), app_with(place, fault)

    for one in (plain, app):
        one.ask()
        one.inline.force_flush(300)
        one.ask()
    app.close()

    assert told(app.own) == told(plain.own)
    assert "secret" not in caplog.text
    plain.close()


def told(spans: Sequence[ReadableSpan]) -> list[tuple[str, dict[str, object], str]]:
    """What a span says, but for its ids and times."""
    return [(s.name, dict(s.attributes or {}), s.status.status_code.name) for s in spans]


@pytest.mark.parametrize(
    ("place", "fault", "decision"),
    [
        ("route", raises, "verified"),
        ("route", garbage, "verified"),
        ("redact", raises, "redacted"),
        ("redact", garbage, "redacted"),
        ("build", raises, "error"),
        ("build", garbage, "error"),
        ("verify", raises, "error"),
        ("complete", raises, None),
    ],
)
def test_each_answer_is_decided_on_all_the_same(
    place: str, fault: Callable[..., object], decision: str | None
) -> None:
    """A fault is a decision too, and never a verdict; what cannot be read has no answer."""
    app = app_with(place, fault)
    app.ask()
    app.ask()
    app.flush()
    app.close()

    assert app.decisions == ({decision: 2} if decision else {})


def test_a_span_that_cannot_be_read_costs_no_other() -> None:
    """The thread goes on with the next one; its own trace has lost it, and is not judged."""

    def complete(record: SpanRecord) -> SpanRecord:
        if record.name == "search" and first:
            first.clear()
            raise ValueError(record.name)
        return record

    first = [True]
    app = App(complete=complete)
    app.ask()
    app.flush()
    app.ask()
    app.flush()
    app.close()

    assert app.decisions == {"queue_full": 1, "verified": 1}


def test_an_emitter_that_fails_once_costs_one_verdict() -> None:
    """The decision is counted, and the next verdict is told."""
    app, real = App(), None
    real = app.emitter.emit
    failed: list[Verdict] = []

    def emit(verdict: Verdict) -> None:
        if not failed:
            failed.append(verdict)
            raise RuntimeError("no")
        real(verdict)

    app.emitter.emit = emit  # type: ignore[method-assign]
    app.ask()
    app.flush()
    app.ask()
    app.flush()

    assert app.decisions == {"verified": 2}
    assert len(app.carriers) == 1
    app.close()
