"""What is done with one answer: whose sample counts, and that nothing is raised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.sampling import Layers
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import (
    AnswerLabel,
    DraftClaim,
    Label,
    RulesJudge,
    Sentence,
    Verifier,
)
from otel_rt4chart.verify.core.model import CheckPlan
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


CITING = "It is 14 days [1]. Refunds take 5 days [9]."


def citing(answer: str = CITING) -> Candidate:
    """An answer with a citation of the one passage, and one of no passage."""
    return replace(CANDIDATE, exchange=replace(CANDIDATE.exchange, answer=answer))


@pytest.mark.parametrize("hint", [Decision.NOT_SAMPLED, Decision.THROTTLED, Decision.OVER_BUDGET])
def test_citations_of_an_answer_outside_the_sample_are_checked(hint: Decision) -> None:
    """Without the judge; an answer without citations has none that is wrong."""
    left_out = replace(citing(), sampled=False, sample_rate=0.5, decision_hint=hint)

    made = decide(left_out, Verifier(Broken({})), rate=1.0, clock=lambda: 5)
    plain = decide(CANDIDATE, Verifier(Broken({})), rate=0.0, clock=lambda: 5)

    assert (made.decision, made.citations, made.citation_errors) == (hint, 2, 1)
    assert [finding.detail for finding in made.findings] == ["“[9]” names no retrieved passage"]
    assert (plain.citations, plain.findings) == (0, ())


def test_citations_of_a_verified_answer_are_counted() -> None:
    """Their findings are in the report."""
    judge = ScriptedJudge({})

    made = decide(citing(), Verifier(judge), rate=1.0, clock=lambda: 5)

    assert (made.decision, made.citations, made.citation_findings) == (Decision.VERIFIED, 2, ())
    assert "“[9]” names no retrieved passage" in [finding.detail for finding in made.findings]


def test_citations_of_an_answer_on_which_the_judge_failed_are_checked() -> None:
    """An outage of the judge is none of the citations' check."""
    broken = Verifier(Broken({}, error=InputError("no reply")))

    made = decide(citing(), broken, rate=1.0, clock=lambda: 5)

    assert (made.decision, made.citations, made.citation_errors) == (Decision.ERROR, 2, 1)


def test_citations_are_not_checked_where_their_layer_is_off() -> None:
    """Nor counted: the share of wrong ones is of those that were looked at."""
    layers = Layers({"support": {"citations": 0.0}})

    for rate in (0.0, 1.0):
        made = decide(citing(), Verifier(JUDGE), rate=rate, clock=lambda: 5, layers=layers)
        assert (made.citations, made.citation_errors) == (0, 0)


@pytest.mark.parametrize("blocked", [Decision.NO_CONTEXT, Decision.TRUNCATED])
def test_citations_of_an_incomplete_answer_are_let_be(blocked: Decision) -> None:
    """The passage that it cites may be the one that is missing."""
    made = decide(replace(citing(), blocked=blocked), Verifier(JUDGE), rate=0.0, clock=lambda: 5)

    assert (made.decision, made.citations, made.findings) == (blocked, 0, ())


def test_more_findings_on_citations_than_a_person_reads_are_left_out() -> None:
    """The answer is untrusted text, and may cite a thousand passages that do not exist."""
    many = " ".join(f"[{number}]" for number in range(100, 900))

    made = decide(citing(many), Verifier(JUDGE), rate=0.0, clock=lambda: 5)

    assert (made.citations, made.citation_errors) == (800, 20)


def test_the_checks_of_an_answer_are_those_of_its_route() -> None:
    """They are recorded with their rates, and a repeat has the same."""
    layers = Layers({"support": {"cherry_picking": 0.5, "sycophancy": 0.0}})
    answers = [replace(CANDIDATE, trace_id=f"{number:032x}") for number in range(20)]

    def plans() -> list[CheckPlan]:
        made = (
            decide(one, Verifier(JUDGE), rate=1.0, clock=lambda: 5, layers=layers)
            for one in answers
        )
        return [one.report.plan for one in made if one.report is not None]

    assert plans() == [
        layers.plan(one.trace_id, "support", scans_remotely=False) for one in answers
    ]
    assert {plan.cherry_picking for plan in plans()} == {0.0, 0.5}
    assert {(plan.citations, plan.sycophancy) for plan in plans()} == {(1.0, 0.0)}


class RemoteScanner(RulesJudge):
    """Rules that stand for a judge behind an endpoint."""

    is_remote = True


def test_remote_judge_reads_the_unused_passages_of_a_fifth_of_the_answers() -> None:
    """Unless the setting says otherwise: each is a call."""
    verifier = Verifier(JUDGE, scanner=RemoteScanner())
    answers = [replace(CANDIDATE, trace_id=f"{number:032x}") for number in range(50)]

    made = [decide(one, verifier, rate=1.0, clock=lambda: 5) for one in answers]

    rates = [one.report.plan.cherry_picking for one in made if one.report is not None]
    assert set(rates) == {0.0, 0.2}
    assert len(rates) / 10 < sum(rate > 0 for rate in rates) < len(rates) / 2


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
