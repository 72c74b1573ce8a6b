"""What is done with one answer: whose sample counts, and that nothing is raised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import AnswerLabel, DraftClaim, Label, Sentence, Verifier
from rt4chart_collector.pipeline.decision import decide, sampling_choice
from tests.rt4chart_collector.records import verdict

CANDIDATE = verdict().candidate
JUDGE = ScriptedJudge({"It is 14 days.": Script(Label.ENTAILED, evidence=("14 days",))})


@dataclass
class Broken(ScriptedJudge):
    """A judge with a fault."""

    error: Exception | None = None

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Fail."""
        raise self.error or AssertionError


@pytest.mark.parametrize(
    ("sampled", "rate", "expected"),
    [
        (True, 0.25, (True, 0.25)),
        (True, None, (True, 1.0)),
        (False, 0.25, (False, 0.25)),
        (None, 1.0, (True, 1.0)),
        (None, 0.0, (False, 0.0)),
        (None, None, (False, 0.0)),
        (True, 0.0, (True, 1.0)),
        (None, 7.0, (True, 1.0)),
    ],
)
def test_mark_of_the_application_wins(
    sampled: bool | None, rate: float | None, expected: tuple[bool, float]
) -> None:
    """The service's own rate, here none, is for answers without a mark."""
    candidate = replace(CANDIDATE, sampled=sampled, sample_rate=rate)

    assert sampling_choice(candidate, 0.0) == expected


def test_answer_in_the_sample_is_verified() -> None:
    """With its report, its judge, its probability and its time."""
    clock = count(100, 7)

    made = decide(CANDIDATE, Verifier(JUDGE), rate=1.0, clock=lambda: next(clock))

    assert (made.decision, made.verifier, made.sample_rate) == (
        Decision.VERIFIED,
        "scripted/1",
        1.0,
    )
    assert (made.decided_ns, made.duration_ns) == (107, 7)
    assert made.report is not None
    assert made.report.label is AnswerLabel.ENTAILED


@pytest.mark.parametrize("blocked", [Decision.NO_CONTEXT, Decision.REDACTED])
def test_answer_that_cannot_be_verified_says_why(blocked: Decision) -> None:
    """Without a call to the judge."""
    blocked_one = replace(CANDIDATE, blocked=blocked)

    made = decide(blocked_one, Verifier(Broken({})), rate=1.0, clock=lambda: 5)

    assert (made.decision, made.report) == (blocked, None)


def test_answer_outside_the_sample_is_recorded() -> None:
    """As not sampled, with the rate."""
    made = decide(CANDIDATE, Verifier(JUDGE), rate=0.0, clock=lambda: 5)

    assert (made.decision, made.sample_rate) == (Decision.NOT_SAMPLED, 0.0)


@pytest.mark.parametrize("hint", [Decision.THROTTLED, Decision.OVER_BUDGET])
def test_application_says_why_an_answer_was_left_out(hint: Decision) -> None:
    """Its reason is recorded where it left the answer out, and only there."""
    marked = replace(CANDIDATE, sampled=False, sample_rate=0.5, decision_hint=hint)

    left_out = decide(marked, Verifier(JUDGE), rate=1.0, clock=lambda: 5)
    chosen_one = decide(replace(marked, sampled=True), Verifier(JUDGE), rate=1.0, clock=lambda: 5)

    assert (left_out.decision, left_out.sample_rate) == (hint, 0.5)
    assert chosen_one.decision is Decision.VERIFIED


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("no such thing"), "no such thing"),
        (ValueError("key sk-123 is wrong"), "unexpected ValueError"),
    ],
)
def test_failure_is_a_verdict_too(error: Exception, text: str) -> None:
    """Our errors in their words, a stranger's by its type: its words may hold a secret."""
    candidate: Candidate = CANDIDATE

    made = decide(candidate, Verifier(Broken({}, error=error)), rate=1.0, clock=lambda: 5)

    assert (made.decision, made.error, made.report) == (Decision.ERROR, text, None)
