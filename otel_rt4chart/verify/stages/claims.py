"""Claims and reports from judgements, and from what no judge was asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.cascade import Tier
from otel_rt4chart.verify.core.evidence import (
    and_join,
    drop_unknown_sentences,
    or_join,
    quote_evidence,
)
from otel_rt4chart.verify.core.meter import BUDGET
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Claim,
    DraftClaim,
    Judgement,
    Label,
    Report,
    Sentence,
)
from otel_rt4chart.verify.decompose.grounding import claim_from_sentence, narrow_range
from otel_rt4chart.verify.text.segment import segment
from otel_rt4chart.verify.text.sentences import whole_graphemes

_NOT_A_CLAIM = Judgement(Label.NOT_A_CLAIM, confidence=1.0)


def claim_from(
    draft: DraftClaim,
    judgement: Judgement,
    answer: str,
    context: Sequence[Sentence],
    *,
    local: Label | None,
    decided_by: str,
    nearest: str,
) -> Claim:
    """The claim with its verdict; an unfaithful one with the narrowest range that carries it.

    The range never splits a grapheme, what a reader sees as one character.
    """
    if not draft.is_claim:
        judgement, decided_by = _NOT_A_CLAIM, "decompose"
    answer_range = draft.range
    if judgement.label.is_unfaithful and draft.sentence >= 0:
        answer_range = narrow_range(answer, draft, judgement, nearest)
    return Claim(
        text=draft.text,
        label=judgement.label,
        local_label=local,
        confidence=judgement.confidence,
        decided_by=decided_by,
        kind=draft.kind,
        answer_range=whole_graphemes(answer, answer_range),
        sentence=draft.sentence,
        evidence=quote_evidence(judgement, context),
        reason=judgement.reason,
        clashes=judgement.clashes,
        nearest=nearest,
    )


def judgements_from_reply(
    tier: Tier, numbers: Sequence[int], reply: object, sentences: Iterable[Sentence]
) -> dict[int, Judgement]:
    """The judgement of each claim; a failed or malformed reply is undecided, never entailed.

    `sentences` are those that the judge was shown: any other one in its reply is dropped.
    """
    answers: Sequence[object] = reply if isinstance(reply, Sequence) else ()
    reason = str(reply) if isinstance(reply, JudgeError) else ""
    if not reason and len(answers) != len(numbers):
        reason = f"{tier.judge.id} judged {len(answers)} of {len(numbers)} claims"
    if reason:
        return dict.fromkeys(numbers, Judgement(Label.UNDECIDED, reason=reason))
    known = {sentence.index for sentence in sentences}
    missing = Judgement(Label.UNDECIDED, reason=f"{tier.judge.id} gave no judgement of this claim")
    return {
        number: drop_unknown_sentences(answer if isinstance(answer, Judgement) else missing, known)
        for number, answer in zip(numbers, answers, strict=True)
    }


def join_parts(cast: Sequence[Judgement]) -> Judgement:
    """The judgement from those on several parts of the passages, none of which is confirmed.

    A part that could not be judged may support the claim, so it is not baseless for the others.
    """
    label = or_join(judgement.label for judgement in cast)
    failed = [judgement for judgement in cast if judgement.label is Label.UNDECIDED]
    if label is Label.BASELESS and failed:
        return failed[0]
    return next((judgement for judgement in cast if judgement.label is label), cast[0])


def undecided_report(answer: str, judge: str, reason: str) -> Report:
    """The report where decomposition failed: each sentence that may hold a claim is undecided."""
    undecided = Judgement(Label.UNDECIDED, reason=reason)
    wholes = [draft for sentence in segment(answer) for draft in claim_from_sentence(sentence)]
    claims = tuple(
        claim_from(draft, undecided, answer, (), local=None, decided_by=judge, nearest="")
        for draft in wholes
    )
    return Report(and_join(claim.label for claim in claims), claims, judge)


SHOWN_CHARACTERS = 300  # of an answer, or of its rest, that is too large to be split into claims


def too_large_report(answer: str, reason: str, judge: str) -> Report:
    """The report on an answer beyond the limits on size: one claim, which is undecided."""
    whole = draft_of(answer, 0, -1)
    undecided = Judgement(Label.UNDECIDED, reason=reason)
    claim = claim_from(whole, undecided, answer, (), local=None, decided_by=BUDGET, nearest="")
    return Report(and_join([claim.label]), (claim,), judge)


def draft_of(answer: str, start: int, sentence: int) -> DraftClaim:
    """A draft for the answer from `start` on, with the first words of it as its text."""
    text = answer[start : start + SHOWN_CHARACTERS]
    return DraftClaim(text, sentence, AnswerRange(start, len(answer)))
