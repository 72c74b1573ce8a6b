"""What follows from a failure: another attempt, or a dead letter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError, JudgeError
from otel_rt4chart.judges.answer_verdicts import error_verdict
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import AnswerLabel, Claim, Label
from rt4chart_collector.pipeline.retry import (
    LONGEST_NS,
    SECOND,
    WAITS_S,
    outcome_of,
    revived_letter,
)
from rt4chart_collector.store.answers.dead_letters import LetterState
from tests.rt4chart_collector.records import NOON, claim, verdict

BUSY = JudgeError("m: 429: too many requests")


def error(raised: Exception, *, now_ns: int = NOON) -> Verdict:
    """The verdict on an answer that failed so."""
    return error_verdict(verdict().candidate, raised, verifier="v", rate=1.0, now_ns=now_ns)


def undecided(*reasons: str) -> Verdict:
    """A report whose claims are undecided for these reasons; an empty one is decided."""
    done = verdict()
    assert done.report is not None
    claims: list[Claim] = [
        replace(
            claim(Label.UNDECIDED if reason else Label.ENTAILED),
            reason=reason,
            decided_by="openai/m",
        )
        for reason in reasons
    ]
    report = replace(done.report, claims=tuple(claims), label=AnswerLabel.UNDECIDED)
    return replace(done, report=report)


def test_passing_failure_is_tried_again_with_growing_waits() -> None:
    """A bounded number of times, and no longer than a day."""
    outcome, now, waits = outcome_of(error(BUSY), None), NOON, []
    while outcome.letter and outcome.letter.state is LetterState.WAITING:
        waits.append((outcome.letter.next_ns - now) // SECOND)
        now = outcome.letter.next_ns
        outcome = outcome_of(error(BUSY, now_ns=now), outcome.letter)

    assert tuple(waits) == WAITS_S
    assert outcome.letter is not None
    assert outcome.letter.attempts == len(WAITS_S) + 1
    assert (outcome.letter.first_ns, outcome.letter.last_ns) == (NOON, now)


def test_answer_that_has_waited_for_a_day_is_given_up() -> None:
    """However few the attempts were."""
    first = outcome_of(error(BUSY), None).letter
    late = outcome_of(error(BUSY, now_ns=NOON + LONGEST_NS), first).letter

    assert late is not None
    assert (late.state, late.attempts, late.reason) == (LetterState.DEAD, 2, "rate_limited")


@pytest.mark.parametrize("raised", [InputError("malformed"), ValueError("a fault")])
def test_lasting_failure_is_a_dead_letter_at_once(raised: Exception) -> None:
    """With its reason and without anybody's words."""
    outcome = outcome_of(error(raised), None)

    assert outcome.letter is not None
    assert outcome.letter.state is LetterState.DEAD
    assert outcome.letter.error_type == type(raised).__name__
    assert not outcome.has_carrier


def test_first_failure_is_recorded_and_the_later_ones_replace_nothing() -> None:
    """Every answer has a decision while it waits, and an earlier verdict is no worse."""
    first = outcome_of(undecided("m: 429: too many requests"), None)
    again = outcome_of(error(BUSY, now_ns=NOON + SECOND), first.letter)

    assert first.verdict is not None
    assert (first.verdict.decision, first.verdict.report) == (Decision.ERROR, None)
    assert first.verdict.error == "m: 429: too many requests"
    assert again.verdict is None


def test_answer_decided_in_part_keeps_that_and_is_tried_again_for_the_rest() -> None:
    """No carrier tells of it before it is complete."""
    outcome = outcome_of(undecided("", "m: 429: too many requests"), None)

    assert outcome.verdict is not None
    assert outcome.verdict.decision is Decision.VERIFIED
    assert outcome.letter is not None
    assert not outcome.has_carrier


@pytest.mark.parametrize("reason", ["over_budget: 3 calls an answer", "the model refused: no"])
def test_undecided_claim_that_is_no_failure_is_a_verdict(reason: str) -> None:
    """The same attempt would end the same way."""
    outcome = outcome_of(undecided(reason), None)

    assert outcome.letter is None
    assert outcome.verdict is not None
    assert outcome.verdict.decision is Decision.VERIFIED


def test_success_settles_the_letter() -> None:
    """What waited is answered."""
    letter = outcome_of(error(BUSY), None).letter

    outcome = outcome_of(verdict(), letter)

    assert outcome.answered_letter == letter
    assert outcome.has_carrier


def test_revived_letter_starts_anew() -> None:
    """Its attempts and its age count from now, and it is due at once."""
    dead = outcome_of(error(InputError("malformed")), None).letter
    assert dead is not None

    alive = revived_letter(dead, NOON + 5)

    assert (alive.state, alive.attempts, alive.first_ns) == (LetterState.WAITING, 0, NOON + 5)
    assert alive.next_ns == NOON + 5
    assert alive.version > dead.version
