from __future__ import annotations

import json
from dataclasses import replace

import pytest

from otel_rt4chart.spans.exchange.carrier import carrier_ids, carrier_span
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Exchange, Label, Passage, Verifier

EXCHANGE = Exchange("How long?", (Passage("p1", "The trial lasts 14 days."),), "It lasts 30 days.")
REPORT = Verifier(
    ScriptedJudge({"It lasts 30 days": Script(Label.CONTRADICTED, (Label.CONTRADICTED,), ("14",))})
).verify(EXCHANGE)
CANDIDATE = Candidate(EXCHANGE, "a" * 32, "b" * 16, 5, "shop", "refunds", environment="prod")
VERDICT = Verdict(CANDIDATE, Decision.VERIFIED, "scripted/1", 0.5, 100, REPORT, duration_ns=40)


def test_a_carrier_is_a_root_span_with_one_link_to_the_answer() -> None:
    """OpenInference spec/annotations.md: one link to the target, EVALUATOR, a complete object."""
    span = carrier_span(VERDICT, trace_id="c" * 32, span_id="d" * 16, version="1.0")

    assert [(link.trace_id, link.span_id) for link in span.links] == [("a" * 32, "b" * 16)]
    assert (span.parent_span_id, span.start_ns, span.end_ns) == ("", 60, 100)
    assert span.attributes["openinference.span.kind"] == "EVALUATOR"
    inline = "evaluations.0.evaluation."
    assert span.attributes[inline + "name"] == "rt4chart.faithfulness"
    assert span.attributes[inline + "label"] == "contradicted"
    assert span.attributes[inline + "score"] == 0.0
    assert span.attributes[inline + "annotator_kind"] == "LLM"
    assert json.loads(str(span.attributes[inline + "metadata"]))["route"] == "refunds"
    assert span.attributes["gen_ai.evaluation.score.label"] == "contradicted"
    assert span.attributes["rt4chart.hallucination_rate"] == 1.0
    assert span.attributes["rt4chart.claim_counts.contradicted"] == 1
    (claim,) = json.loads(str(span.attributes["rt4chart.claims"]))
    assert claim["evidence"][0]["text"] == "The trial lasts 14 days."


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        ("local/deberta-1f3a", "CODE"),
        ("rules/3", "CODE"),
        ("onnx/model-1f3a", "CODE"),
        ("cross/1f3a", "CODE"),
        ("cascade(local/deberta-1f3a,openai/gpt,0.9)", "LLM"),
        ("openai/gpt", "LLM"),
        ("locale", "LLM"),
    ],
)
def test_the_annotator_is_a_language_model_where_one_was_asked(judge: str, kind: str) -> None:
    """By the judge's id; OpenInference names a model that is no language model CODE."""
    verdict = replace(VERDICT, report=replace(REPORT, judge=judge))

    span = carrier_span(verdict, trace_id="c" * 32, span_id="d" * 16, version="1.0")

    assert span.attributes["evaluations.0.evaluation.annotator_kind"] == kind


def test_the_same_verdict_has_the_same_ids() -> None:
    """A replay writes the same carrier; another judge's verdict is another one."""
    trace_id, span_id = carrier_ids(VERDICT)

    assert (len(trace_id), len(span_id)) == (32, 16)
    assert carrier_ids(replace(VERDICT, decided_ns=7)) == (trace_id, span_id)
    assert carrier_ids(replace(VERDICT, verifier="other/1")) != (trace_id, span_id)


def test_an_answer_that_was_not_verified_has_no_carrier() -> None:
    """There is no verdict to carry."""
    with pytest.raises(ValueError, match="not_sampled"):
        carrier_span(
            replace(VERDICT, report=None, decision=Decision.NOT_SAMPLED),
            trace_id="c" * 32,
            span_id="d" * 16,
            version="1.0",
        )
