from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.sdk.trace import SpanLimits
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.settings.content_switches import ContentSwitches
from otel_rt4chart.spans.exchange.carrier import carrier_attributes
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Exchange, Finding, Passage, RulesJudge, Verifier
from tests.otel_rt4chart.inline.app import App

EXCHANGE = Exchange(
    "How long?",
    (Passage("p1", "The trial lasts 14 days. Refunds take 5 days."),),
    "The trial lasts 30 days. Refunds take 9 days.",
)
REPORT = Verifier(RulesJudge()).verify(EXCHANGE)


def verdict(decision: Decision = Decision.VERIFIED, *, route: str = "r", **more: Any) -> Verdict:  # noqa: ANN401
    """A verdict on the answer."""
    candidate = Candidate(EXCHANGE, "a" * 32, "b" * 16, 5, "shop", route)
    report = REPORT if decision is Decision.VERIFIED else None
    return Verdict(
        candidate, decision, "rules/13", 0.5, 10**18, report, duration_ns=2_000_000_000, **more
    )


def test_a_carrier_is_a_child_of_the_answer_with_one_link() -> None:
    """As OpenInference wants it, with our scope, the provider's resource, and the times."""
    app = App(kinds=["carrier"])

    app.emitter.emit(verdict())

    (span,) = app.carriers
    assert span.parent is not None
    assert (span.parent.trace_id, span.parent.span_id) == (int("a" * 32, 16), int("b" * 16, 16))
    assert span.parent.is_remote
    assert span.context is not None
    assert span.context.trace_id == int("a" * 32, 16)
    assert [format(link.context.span_id, "016x") for link in span.links] == ["b" * 16]
    assert (span.start_time, span.end_time) == (10**18 - 2_000_000_000, 10**18)
    assert span.instrumentation_scope is not None
    assert (span.instrumentation_scope.name, span.instrumentation_scope.version) == (
        "otel_rt4chart",
        "1.0",
    )
    assert span.resource.attributes["service.name"] == "shop"
    assert dict(span.attributes or {}) == carrier_attributes(verdict(), REPORT, "1.0")
    assert app.events == []
    assert app.metrics == {}
    app.close()


def test_a_carrier_stands_in_a_trace_of_its_own_by_option() -> None:
    """As the root, with the same link."""
    app = App(kinds=["carrier"], carrier=CarrierPlace.OWN)

    app.emitter.emit(verdict())

    (span,) = app.carriers
    assert span.parent is None
    assert span.context is not None
    assert span.context.trace_id != int("a" * 32, 16)
    assert [format(link.context.span_id, "016x") for link in span.links] == ["b" * 16]
    app.close()


def test_citations_are_counted_whether_the_answer_was_verified_or_not() -> None:
    """The counters have the citations, and the findings that one is wrong."""
    app = App(kinds=["metrics"])
    wrong = Finding("citation", "[9] names no retrieved passage", kind="unknown_id")

    app.emitter.emit(verdict(Decision.NOT_SAMPLED, citations=3, citation_findings=(wrong,)))
    app.emitter.emit(verdict(citations=2))

    route = {"rt4chart.route": "r"}
    assert app.metrics["rt4chart.citations"] == [(route, 5)]
    assert app.metrics["rt4chart.citation_errors"] == [(route, 1)]
    app.close()


def test_claims_are_counted_by_label_and_status() -> None:
    """A claim that misleads is entailed, and only its status says so."""
    app = App(kinds=["metrics"])

    app.emitter.emit(verdict())

    attributes = {
        "rt4chart.route": "r",
        "rt4chart.label": "contradicted",
        "rt4chart.status": "contradicted",
    }
    assert app.metrics["rt4chart.claims"] == [(attributes, 2)]
    app.close()


def test_an_event_stands_on_the_answers_span_with_nested_claims() -> None:
    """OpenTelemetry's event, its claims readable without parsing."""
    app = App(kinds=["event"])

    app.emitter.emit(verdict())

    record = app.events[0].log_record
    said = dict(record.attributes or {})
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id, record.span_id) == (int("a" * 32, 16), int("b" * 16, 16))
    assert said["gen_ai.evaluation.score.label"] == "contradicted"
    assert said["gen_ai.evaluation.score.value"] == 0.0
    assert [claim["label"] for claim in said["rt4chart.claims"]] == ["contradicted"] * 2  # type: ignore[union-attr, index, call-overload]
    assert not [key for key in said if key.startswith(("evaluations.", "openinference."))]
    assert app.carriers == []
    app.close()


def test_an_evaluation_that_failed_is_an_event_with_its_error() -> None:
    """And no carrier: there is no verdict."""
    app = App()

    app.emitter.emit(verdict(Decision.ERROR, error="no reply", error_type="JudgeError"))

    said = dict(app.events[0].log_record.attributes or {})
    assert said["error.type"] == "JudgeError"
    assert app.carriers == []
    app.close()


def test_an_answer_that_was_not_verified_is_counted_only() -> None:
    """By its decision."""
    app = App()

    app.emitter.emit(verdict(Decision.NOT_SAMPLED))

    attributes = {"rt4chart.route": "r", "rt4chart.decision": "not_sampled"}
    assert app.metrics["rt4chart.answers"] == [(attributes, 1)]
    assert (app.carriers, app.events) == ([], [])
    app.close()


def test_routes_beyond_two_hundred_are_counted_together() -> None:
    """A route with an id in it must not make a series for each request."""
    app = App(kinds=["metrics"])

    for number in range(250):
        app.emitter.emit(verdict(Decision.NOT_SAMPLED, route=f"/a/{number}"))

    counted = {a["rt4chart.route"]: value for a, value in app.metrics["rt4chart.answers"]}
    assert len(counted) == 201
    assert counted["other"] == 50
    app.close()


@pytest.mark.parametrize("hides", ["switch", "drop"])
def test_hidden_content_does_not_come_out_again(hides: str) -> None:
    """Labels, counts, ids and ranges, and no text of anybody."""
    drop = Redactor(lambda text: "", is_on=True, drops=True)
    switches = ContentSwitches(hide_inputs=True)
    app = App(switches=switches) if hides == "switch" else App(redactor=drop)

    app.emitter.emit(verdict())

    said = dict(app.carriers[0].attributes or {})
    everything = json.dumps(said) + repr(dict(app.events[0].log_record.attributes or {}))
    (first, _) = json.loads(str(said["rt4chart.claims"]))
    assert not [word for word in ("trial", "Refunds", "14 days", "30 days") if word in everything]
    assert (first["label"], first["evidence"][0]["passage"]) == ("contradicted", "p1")
    assert first["end"] > first["start"]
    assert said["rt4chart.claim_counts.contradicted"] == 2
    app.close()


def test_a_limit_on_values_leaves_whole_claims() -> None:
    """Half a JSON text is worth nothing: those that fit are kept."""
    whole = str(carrier_attributes(verdict(), REPORT, "1.0")["rt4chart.claims"])
    app = App(limits=SpanLimits(max_span_attribute_length=len(whole) - 10))

    app.emitter.emit(verdict())

    kept = json.loads(str(dict(app.carriers[0].attributes or {})["rt4chart.claims"]))
    assert kept == json.loads(whole)[:1]
    app.close()


def test_a_sampler_that_drops_carriers_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """Else somebody would look for them in vain."""
    app = App(kinds=["carrier"], sampler=ALWAYS_OFF)

    app.emitter.emit(verdict())
    app.emitter.emit(verdict())

    assert app.carriers == []
    assert caplog.text.count("drops carrier spans") == 1
    app.close()
