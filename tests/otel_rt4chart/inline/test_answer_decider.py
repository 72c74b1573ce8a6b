from __future__ import annotations

from collections.abc import Sequence

import pytest

from otel_rt4chart.inline.answer_decider import AnswerDecider
from otel_rt4chart.inline.answer_gatherer import Answer
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.redaction import Redactor, build_redactor
from otel_rt4chart.sampling import Policy, Sampler, Signals
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Exchange, Passage, RulesJudge, Verifier

EXCHANGE = Exchange(
    "How long do refunds take?",
    (Passage("p1", "Refunds are paid within 30 days."), Passage("p2", "The shop is in Berlin.")),
    "The refunds are paid within 30 days.",
)


class Away:
    """An embedder at an endpoint; notes what was sent there."""

    is_remote = True

    def __init__(self) -> None:
        self.sent: list[str] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""
        self.sent += texts
        return [(1.0, 0.0)] * len(texts)


def decided(redactor: Redactor, verifier: Verifier | None = None) -> Verdict:
    """The verdict on the one answer."""
    decider = AnswerDecider(
        sampler=Sampler(Policy(rate=1.0)),
        build_verifier=lambda: verifier or Verifier(RulesJudge()),
        redactor=redactor,
        clock=lambda: 1,
    )
    candidate = Candidate(EXCHANGE, "a" * 32, "b" * 16, 1, "shop", "/ask")
    return decider.decide(Answer(candidate, Signals()))


def test_dropped_texts_are_sent_to_no_embedder() -> None:
    """Though the judge is in this process."""
    away = Away()

    verdict = decided(build_redactor("drop"), Verifier(RulesJudge(), embedder=away))

    assert (verdict.decision, away.sent) == (Decision.REDACTED, [])


def test_dropped_texts_are_judged_in_this_process() -> None:
    """Nothing leaves it."""
    assert decided(build_redactor("drop")).decision is Decision.VERIFIED


def test_masked_texts_may_be_sent() -> None:
    """That is what they are masked for."""
    away = Away()

    verdict = decided(build_redactor("mask"), Verifier(RulesJudge(), embedder=away))

    assert verdict.decision is Decision.VERIFIED
    assert away.sent == [
        "Refunds are paid within 30 days.",
        "The shop is in Berlin.",
        "The refunds are paid within 30 days.",
    ]


@pytest.mark.parametrize("start", ["How long", "Refunds are", "The refunds"])
@pytest.mark.parametrize("result", [KeyError, ""])
def test_an_answer_with_a_text_taken_out_is_not_judged(start: str, result: object) -> None:
    """A question, a passage or the answer that is hidden: without it the verdict would be wrong."""

    def redact(text: str) -> str:
        if not text.startswith(start):
            return text
        if result is KeyError:
            raise KeyError(text)
        return ""

    verdict = decided(build_redactor(call=redact))

    assert (verdict.decision, verdict.report) == (Decision.REDACTED, None)


def test_a_text_that_is_redacted_in_part_is_judged() -> None:
    """What is left says enough."""
    redactor = build_redactor(call=lambda text: text.replace("30", "[number]"))

    assert decided(redactor).decision is Decision.VERIFIED


def test_an_answer_whose_judge_is_away_is_an_error_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is no verdict, and nobody should find that out from a metric."""
    pytest.importorskip("openai", reason="the base install has no client of endpoints")
    away = JudgeSettings(base_url="http://127.0.0.1:9/v1", api_key="none", retries=0)

    verdict = decided(build_redactor(), build_verifier("openai", away))

    assert (verdict.decision, verdict.report) == (Decision.ERROR, None)
    assert (verdict.error, verdict.error_type) == ("unreachable", "JudgeError")
    assert caplog.text.count("answers get no verdict because the judge fails: unreachable") == 1
