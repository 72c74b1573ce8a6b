"""When an answer that the judge failed on is tried again, and when it is given up."""

from __future__ import annotations

from dataclasses import dataclass, replace

from otel_rt4chart.judges.judge_failure import JudgeFailure, find_judge_failure
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState

SECOND = 10**9
WAITS_S = (30, 120, 600, 1800, 3600, 3600, 3600)
LONGEST_NS = 24 * 3600 * SECOND
GONE = "answer_gone"
PAUSED = "judge_paused"


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What is to be stored of one attempt.

    `verdict` is None where what is stored already is no worse, `letter` where nothing is to be
    tried again nor given up; `settled` is a letter that is answered. No carrier tells of a silent
    verdict, such as one that replaces another: a span that was sent cannot be taken back.
    """

    verdict: Verdict | None
    letter: DeadLetter | None = None
    settled: DeadLetter | None = None
    is_silent: bool = False

    @property
    def trace_id(self) -> str:
        """The answer's trace."""
        if self.verdict is not None:
            return self.verdict.candidate.trace_id
        return self.letter.trace_id if self.letter is not None else ""

    @property
    def has_carrier(self) -> bool:
        """Whether a carrier tells of the verdict: not of one that may yet be completed."""
        is_final = self.letter is None or self.letter.state is LetterState.DEAD
        has_report = self.verdict is not None and self.verdict.report is not None
        return has_report and is_final and not self.is_silent


def outcome_of(verdict: Verdict, before: DeadLetter | None) -> AnswerOutcome:
    """A verdict with what follows from a failure of the judge; `before` is the answer's letter.

    An answer of which some claims were decided keeps its verdict, and is tried again for the rest.
    """
    failure = find_judge_failure(verdict)
    if failure is None:
        return AnswerOutcome(verdict, settled=before)
    letter = after_failure(verdict, failure, before)
    if verdict.report is not None and verdict.report.decided:
        return AnswerOutcome(verdict, letter)
    # The first attempt has said already that there was an error, and may have decided something.
    return AnswerOutcome(None if before else as_error(verdict, failure), letter)


def after_failure(verdict: Verdict, failure: JudgeFailure, before: DeadLetter | None) -> DeadLetter:
    """The letter of an answer that has failed just now, for the first time or again."""
    candidate, now = verdict.candidate, verdict.decided_ns
    attempts = before.attempts + 1 if before else 1
    first = before.first_ns if before else now
    wait = WAITS_S[attempts - 1] * SECOND if attempts <= len(WAITS_S) else LONGEST_NS
    is_dead = not failure.is_temporary or now + wait - first >= LONGEST_NS
    return DeadLetter(
        start_ns=candidate.start_ns,
        trace_id=candidate.trace_id,
        span_id=candidate.span_id,
        service=candidate.service,
        route=candidate.route,
        verifier=verdict.verifier,
        state=LetterState.DEAD if is_dead else LetterState.WAITING,
        reason=failure.kind,
        error_type=failure.error_type,
        attempts=attempts,
        first_ns=first,
        last_ns=now,
        next_ns=now + wait,
        version=max(now, before.version + 2 if before else 0),
    )


def put_off(candidate: Candidate, verifier: str, now_ns: int) -> DeadLetter:
    """The letter of an answer that would not be found again without: a decision is recorded of it.

    It has not been tried, so that no attempt counts.
    """
    return DeadLetter(
        start_ns=candidate.start_ns,
        trace_id=candidate.trace_id,
        span_id=candidate.span_id,
        service=candidate.service,
        route=candidate.route,
        verifier=verifier,
        state=LetterState.WAITING,
        reason=PAUSED,
        error_type="",
        attempts=0,
        first_ns=now_ns,
        last_ns=now_ns,
        next_ns=now_ns + WAITS_S[0] * SECOND,
        version=now_ns,
    )


def as_error(verdict: Verdict, failure: JudgeFailure) -> Verdict:
    """The verdict without its report: of a judge that said nothing there is an error to record."""
    if verdict.report is None:
        return verdict
    reasons = [claim.reason for claim in verdict.report.claims if claim.reason]
    error = next(iter(reasons), failure.kind)
    return replace(
        verdict, decision=Decision.ERROR, report=None, error=error, error_type=failure.error_type
    )


def not_found(letter: DeadLetter, now_ns: int) -> DeadLetter:
    """The letter of an answer that the store does not have.

    Its spans may only be late, so that it waits as long again as it has, and is given up as gone
    when it is as old as a retry may be.
    """
    version, age = max(now_ns, letter.version + 2), now_ns - letter.first_ns
    if age >= LONGEST_NS:
        return replace(letter, state=LetterState.DEAD, reason=GONE, last_ns=now_ns, version=version)
    wait = min(max(age, WAITS_S[0] * SECOND), LONGEST_NS - age)
    return replace(letter, next_ns=now_ns + wait, version=version)


def revived(letter: DeadLetter, now_ns: int) -> DeadLetter:
    """A dead letter as one that has not been tried yet, and may be at once."""
    version = max(now_ns, letter.version + 2)
    return replace(
        letter,
        state=LetterState.WAITING,
        attempts=0,
        first_ns=now_ns,
        next_ns=now_ns,
        version=version,
    )
