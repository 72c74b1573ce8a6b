"""Retries of answers on which the judge failed: when, how often, and when they are given up."""

from __future__ import annotations

from dataclasses import dataclass, replace

from otel_rt4chart.judges.judge_failure import JudgeFailure, find_judge_failure
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify.core.model import Finding, Report
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState

SECOND = 10**9
# Growing waits: a short outage ends within minutes, an exhausted quota or a wrong key within hours.
WAITS_S = (30, 120, 600, 1800, 3600, 3600, 3600)
# As far back as recovery searches the store (`recovery.WINDOW_NS`): an older answer is given up.
LONGEST_NS = 24 * 3600 * SECOND
GONE = "answer_gone"
PAUSED = "judge_paused"


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What one attempt stores.

    `verdict` is None if the stored one is no worse. `letter` is set if the answer is to be retried
    or was given up; `answered_letter` is an earlier letter to withdraw. `skips_carrier` is for a
    verdict that replaces another: its carrier span cannot be withdrawn once it is exported.
    """

    verdict: Verdict | None
    letter: DeadLetter | None = None
    answered_letter: DeadLetter | None = None
    skips_carrier: bool = False

    @property
    def trace_id(self) -> str:
        """The answer's trace."""
        if self.verdict is not None:
            return self.verdict.candidate.trace_id
        return self.letter.trace_id if self.letter is not None else ""

    @property
    def has_carrier(self) -> bool:
        """True if a carrier span is written; none is for a verdict that a retry may complete."""
        is_final = self.letter is None or self.letter.state is LetterState.DEAD
        has_report = self.verdict is not None and self.verdict.report is not None
        return has_report and is_final and not self.skips_carrier


def outcome_of(verdict: Verdict, before: DeadLetter | None) -> AnswerOutcome:
    """The outcome of a verdict, with a retry if the judge failed; `before` is the answer's letter.

    An answer with some decided claims keeps its verdict, and is retried for the others.
    """
    failure = find_judge_failure(verdict)
    if failure is None:
        return AnswerOutcome(verdict, answered_letter=before)
    letter = failed_attempt_letter(verdict, failure, before)
    if verdict.report is not None and verdict.report.decided:
        return AnswerOutcome(verdict, letter)
    # The first attempt has stored the error already, or claims that it decided.
    return AnswerOutcome(None if before else without_report(verdict, failure), letter)


def failed_attempt_letter(
    verdict: Verdict, failure: JudgeFailure, before: DeadLetter | None
) -> DeadLetter:
    """The letter of an answer whose attempt has just failed, for the first time or again."""
    candidate, now = verdict.candidate, verdict.decided_ns
    attempts = before.attempts + 1 if before else 1
    first = before.first_ns if before else now
    wait = WAITS_S[attempts - 1] * SECOND if attempts <= len(WAITS_S) else LONGEST_NS
    is_dead = not failure.is_temporary or now + wait - first >= LONGEST_NS
    return replace(
        _new_letter(candidate, verdict.verifier, failure.kind, now),
        state=LetterState.DEAD if is_dead else LetterState.WAITING,
        error_type=failure.error_type,
        attempts=attempts,
        first_ns=first,
        next_ns=now + wait,
        # Rows are replaced by version. The withdrawal of a letter has its version plus one, so the
        # next letter needs two more to win over it, even if the clock went back.
        version=max(now, before.version + 2 if before else 0),
    )


def postponed_letter(candidate: Candidate, verifier: str, now_ns: int) -> DeadLetter:
    """The letter of an answer that is postponed while the judge is paused.

    Without a letter it would not be found again, because it has a decision already. It was not
    tried, so no attempt counts.
    """
    return _new_letter(candidate, verifier, PAUSED, now_ns)


def _new_letter(candidate: Candidate, verifier: str, reason: str, now_ns: int) -> DeadLetter:
    """A letter without attempts, due after the first wait."""
    return DeadLetter(
        start_ns=candidate.start_ns,
        trace_id=candidate.trace_id,
        span_id=candidate.span_id,
        service=candidate.service,
        route=candidate.route,
        verifier=verifier,
        state=LetterState.WAITING,
        reason=reason,
        error_type="",
        attempts=0,
        first_ns=now_ns,
        last_ns=now_ns,
        next_ns=now_ns + WAITS_S[0] * SECOND,
        version=now_ns,
    )


def without_report(verdict: Verdict, failure: JudgeFailure) -> Verdict:
    """The verdict without a report that decided nothing: an error with the judge's reason."""
    if verdict.report is None:
        return verdict
    reasons = [claim.reason for claim in verdict.report.claims if claim.reason]
    error = next(iter(reasons), failure.kind)
    return replace(
        verdict,
        decision=Decision.ERROR,
        report=None,
        error=error,
        error_type=failure.error_type,
        citation_findings=verdict.citation_findings or _citation_findings(verdict.report),
    )


def _citation_findings(report: Report) -> tuple[Finding, ...]:
    """The findings on citations that are about no claim, and therefore need no judge."""
    return tuple(
        finding
        for finding in report.findings
        if finding.name == FindingName.CITATION and finding.claim is None
    )


def missing_answer_letter(letter: DeadLetter, now_ns: int) -> DeadLetter:
    """The letter of an answer that is not in the store.

    Its spans may only be late, so each wait is as long as the time since the first attempt. The
    answer is given up as gone when that time reaches `LONGEST_NS`.
    """
    version, age = max(now_ns, letter.version + 2), now_ns - letter.first_ns
    if age >= LONGEST_NS:
        return replace(letter, state=LetterState.DEAD, reason=GONE, last_ns=now_ns, version=version)
    wait = min(max(age, WAITS_S[0] * SECOND), LONGEST_NS - age)
    return replace(letter, next_ns=now_ns + wait, version=version)


def revived_letter(letter: DeadLetter, now_ns: int) -> DeadLetter:
    """A dead letter as a new one without attempts, due at once."""
    version = max(now_ns, letter.version + 2)
    return replace(
        letter,
        state=LetterState.WAITING,
        attempts=0,
        first_ns=now_ns,
        next_ns=now_ns,
        version=version,
    )
