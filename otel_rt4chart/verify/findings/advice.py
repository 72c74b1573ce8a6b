"""What to do about an answer: accept it, revise it by the least edits, or escalate it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from otel_rt4chart.verify.core.model import (
    Action,
    Advice,
    Claim,
    ClaimStatus,
    Finding,
    Label,
    Report,
    reaches,
)
from otel_rt4chart.verify.findings.edits import NoEditError, find_edits
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.stages.verification import NO_CHUNK, NO_EVIDENCE

# An edit on a verdict below this confidence would be a guess. Claims that nothing is about are
# exempt: their confidence is that of all unlinked claims.
MIN_CONFIDENCE = 0.6
MAX_CONTRADICTIONS = 1
_LIKELY = 0.5  # what is called supported with less is more likely wrong than right


def advise(answer: str, claims: Sequence[Claim], findings: Sequence[Finding]) -> Advice:
    """The action for an answer whose claims have their statuses.

    `revise` comes with edits for all failures. Where one has no safe edit, where verdicts are
    missing or uncertain, where contradictions are several, and where the edits would remove most of
    the answer, a person must decide: `escalate`.
    """
    if reason := _undecided(claims):
        return Advice(Action.ESCALATE, reason)
    if reason := _uncertain(claims):
        return Advice(Action.ESCALATE, reason)
    failures = [claim for claim in claims if claim.is_failure]
    if not failures:
        return Advice(Action.ACCEPT, _accepted(claims))
    try:
        found = find_edits(answer, claims, findings)
    except NoEditError as error:
        return Advice(Action.ESCALATE, str(error))
    decided = sum(claim.label.is_decided for claim in claims)
    if 2 * len(found.dropped) > decided:
        return Advice(
            Action.ESCALATE,
            f"the edit would remove most of the answer: {len(found.dropped)} of {decided} claims",
        )
    return Advice(Action.REVISE, _revised(failures), found.edits)


def confirmed(advice: Advice, again: Report) -> Advice:
    """The advice if the edited answer has no failure; `again` is the report on it."""
    undecided = _undecided(again.claims)
    if not again.failures and again.decided and not undecided:
        return advice
    failing = _count(len(again.failures), "claim")
    left = f"in the edited answer, {failing} would fail" if again.failures else ""
    reason = left or undecided or "the edited answer has no claim left that was decided"
    return Advice(Action.ESCALATE, f"no edit is offered: {reason}")


def _undecided(claims: Sequence[Claim]) -> str:
    """Why missing verdicts need a person, or ""."""
    undecided = [
        claim
        for claim in claims
        # "It does" has no word that a passage could decide.
        if claim.label is Label.UNDECIDED and content(claim.text)
    ]
    if not undecided:
        return ""
    reason = undecided[0].reason or "no reason given"
    return f"{_count(len(undecided), 'claim')} could not be verified: {reason}"


# Baseless by rule: the judge found otherwise, or was not asked, and states no confidence.
_WITHOUT_A_READING = frozenset({NO_EVIDENCE.reason, NO_CHUNK.reason})


def _uncertain(claims: Sequence[Claim]) -> str:
    """Why the verdicts are too many against the answer, or too weak, for an edit; or ""."""
    contradicted = sum(claim.label is Label.CONTRADICTED for claim in claims)
    if contradicted > MAX_CONTRADICTIONS:
        return f"{contradicted} claims contradict the passages"
    low = [
        claim
        for claim in claims
        if claim.label.is_decided
        and claim.status is not ClaimStatus.UNLINKED
        and (
            claim.reason in _WITHOUT_A_READING
            or not reaches(claim.confidence, MIN_CONFIDENCE if claim.is_failure else _LIKELY)
        )
    ]
    return f"the judge is not certain of {_count(len(low), 'verdict')}" if low else ""


def _accepted(claims: Sequence[Claim]) -> str:
    decided = sum(claim.label.is_decided for claim in claims)
    return f"{_count(decided, 'claim')} supported" if decided else "no claim to verify"


def _revised(failures: Sequence[Claim]) -> str:
    """Such as "1 claim: contradicted; 2 claims: restriction left out"."""
    counts = Counter(claim.status.label for claim in failures)
    return "; ".join(f"{_count(number, 'claim')}: {what}" for what, number in counts.items())


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
