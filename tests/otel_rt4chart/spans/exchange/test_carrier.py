from __future__ import annotations

import json
from dataclasses import replace

import pytest

from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.spans.exchange.carrier import (
    carrier_places,
    carrier_span,
    explain_in_one_sentence,
)
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Exchange, Label, Passage, Verifier
from otel_rt4chart.verify.core.model import Action, Advice, Claim, ClaimStatus, Report

EXCHANGE = Exchange("How long?", (Passage("p1", "The trial lasts 14 days."),), "It lasts 30 days.")
REPORT = Verifier(
    ScriptedJudge({"It lasts 30 days": Script(Label.CONTRADICTED, (Label.CONTRADICTED,), ("14",))})
).verify(EXCHANGE)
CANDIDATE = Candidate(EXCHANGE, "a" * 32, "b" * 16, 5, "shop", "refunds", environment="prod")
VERDICT = Verdict(CANDIDATE, Decision.VERIFIED, "scripted/1", 0.5, 100, REPORT, duration_ns=40)


def test_a_carrier_is_a_child_of_the_answer_with_one_link_to_it() -> None:
    """OpenInference spec/annotations.md: one link to the target, EVALUATOR, a complete object."""
    span = carrier_span(VERDICT, version="1.0")

    assert [(link.trace_id, link.span_id) for link in span.links] == [("a" * 32, "b" * 16)]
    assert (span.trace_id, span.parent_span_id) == ("a" * 32, "b" * 16)
    assert (span.start_ns, span.end_ns) == (60, 100)
    assert span.attributes["openinference.span.kind"] == "EVALUATOR"
    inline = "evaluations.0.evaluation."
    assert span.attributes[inline + "name"] == "rt4chart.faithfulness"
    assert span.attributes[inline + "label"] == "contradicted"
    assert span.attributes[inline + "score"] == 0.0
    assert span.attributes[inline + "annotator_kind"] == "LLM"
    assert json.loads(str(span.attributes[inline + "metadata"]))["route"] == "refunds"
    assert span.attributes["gen_ai.evaluation.score.label"] == "contradicted"
    assert span.attributes["rt4chart.hallucination_rate"] == 1.0
    assert span.attributes["rt4chart.misleading_rate"] == 0.0
    assert json.loads(str(span.attributes["rt4chart.statuses"])) == {"contradicted": 1.0}
    assert span.attributes["rt4chart.action"] == "escalate"
    assert span.attributes["rt4chart.claim_counts.contradicted"] == 1
    (claim,) = json.loads(str(span.attributes["rt4chart.claims"]))
    assert claim["evidence"][0]["text"] == "The trial lasts 14 days."


def test_a_carrier_stands_in_a_trace_of_its_own_by_option() -> None:
    """It is the root there, with the same link and the same attributes."""
    below = carrier_span(VERDICT, version="1.0")
    own = carrier_span(VERDICT, version="1.0", place=CarrierPlace.OWN)

    assert own.trace_id != below.trace_id
    assert own == replace(below, trace_id=own.trace_id, parent_span_id="")


def misleading(report: Report = REPORT, *, check_rate: float = 0.2) -> Report:
    """The report with an entailed claim whose exception was left out."""
    claim = replace(
        report.claims[0],
        text="It is free.",
        label=Label.ENTAILED,
        status=ClaimStatus.CHERRY_PICKED,
        check_rate=check_rate,
    )
    return replace(report, claims=(*report.claims, claim))


def test_a_carrier_has_both_rates_the_statuses_and_the_action() -> None:
    """A claim found by a check on a fifth of the answers counts five times in the statuses."""
    report = replace(misleading(), advice=Advice(Action.REVISE, "one claim"))

    attributes = carrier_span(replace(VERDICT, report=report), version="1.0").attributes

    assert attributes["rt4chart.hallucination_rate"] == 0.5
    assert attributes["rt4chart.misleading_rate"] == 0.5
    statuses = {"contradicted": 1.0, "cherry_picked": 5.0}
    assert json.loads(str(attributes["rt4chart.statuses"])) == statuses
    assert attributes["rt4chart.action"] == "revise"
    claims = json.loads(str(attributes["rt4chart.claims"]))
    assert [claim["status"] for claim in claims] == ["contradicted", "cherry_picked"]


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        (
            misleading().claims,
            "1 of 2 claims are not supported by the passages and 1 misleads: “It ",
        ),
        (
            misleading().claims[1:] * 2,
            "0 of 2 claims are not supported by the passages and 2 mislead",
        ),
        (misleading().claims[1:], "misleads: “It is free.” (cherry-picked)"),
        ((), "0 of 0 claims are not supported by the passages"),
    ],
)
def test_the_explanation_says_what_misleads(claims: tuple[Claim, ...], sentence: str) -> None:
    """The first unfaithful claim is named, else the first misleading one."""
    assert sentence in explain_in_one_sentence(replace(REPORT, claims=claims))


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        ("local/deberta-1f3a", "CODE"),
        ("rules/3", "CODE"),
        ("onnx/model-1f3a", "CODE"),
        ("onnx-spans/model-1f3a", "CODE"),
        ("cross/1f3a", "CODE"),
        ("cascade(local/deberta-1f3a,openai/gpt,0.9)", "LLM"),
        ("openai/gpt", "LLM"),
        ("locale", "LLM"),
    ],
)
def test_the_annotator_is_a_language_model_where_one_was_asked(judge: str, kind: str) -> None:
    """By the judge's id; OpenInference names a model that is no language model CODE."""
    verdict = replace(VERDICT, report=replace(REPORT, judge=judge))

    span = carrier_span(verdict, version="1.0")

    assert span.attributes["evaluations.0.evaluation.annotator_kind"] == kind


def test_the_same_verdict_has_the_same_ids() -> None:
    """A replay writes the same carrier; another judge's verdict is another one."""
    places = carrier_places(VERDICT)

    assert [(len(trace_id), len(span_id)) for trace_id, span_id in places.values()] == [
        (32, 16)
    ] * 2
    assert places[CarrierPlace.TRACE][0] == "a" * 32
    assert carrier_places(replace(VERDICT, decided_ns=7)) == places
    other = carrier_places(replace(VERDICT, verifier="other/1"))
    assert not {span_id for _, span_id in places.values()} & {key for _, key in other.values()}


def test_an_answer_that_was_not_verified_has_no_carrier() -> None:
    """There is no verdict to carry."""
    with pytest.raises(ValueError, match="not_sampled"):
        carrier_span(replace(VERDICT, report=None, decision=Decision.NOT_SAMPLED), version="1.0")
