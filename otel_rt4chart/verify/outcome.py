"""What a verification comes to: replies as judgements, judgements as claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from otel_rt4chart.errors import JudgeError
from otel_rt4chart.verify.cascade import Tier
from otel_rt4chart.verify.evidence import known_only, quote
from otel_rt4chart.verify.join import and_join
from otel_rt4chart.verify.localise import localise
from otel_rt4chart.verify.model import (
    AnswerRange,
    Claim,
    DraftClaim,
    Judgement,
    Label,
    Report,
    Sentence,
    Usage,
)


class Notes(NamedTuple):
    """What findings need to know of how a report came about, beside its claims.

    `scores` are each claim's best lexical link; `linking_error` says why meaning was not compared;
    `compressed` are the smallest number of sentences a claim was judged on, and how many there are.
    """

    scores: dict[int, float]
    linking_error: str
    compressed: tuple[int, int] | None


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
    """The draft with its verdict; an unfaithful one on the narrowest range that carries it."""
    where = draft.range
    if judgement.label.is_unfaithful and draft.sentence >= 0:
        where = localise(answer, draft, judgement, nearest)
    return Claim(
        text=draft.text,
        label=judgement.label,
        local_label=judgement.label if local is None else local,
        confidence=judgement.confidence,
        decided_by=decided_by,
        kind=draft.kind,
        answer_range=where,
        sentence=draft.sentence,
        evidence=quote(judgement, context),
        reason=judgement.reason,
        clashes=judgement.clashes,
        nearest=nearest,
    )


def judged(
    tier: Tier, numbers: Sequence[int], reply: object, sentences: Iterable[Sentence]
) -> dict[int, Judgement]:
    """The judgement of each claim, with sentences that it was shown; a failure is undecided."""
    told: Sequence[object] = reply if isinstance(reply, Sequence) else ()
    reason = str(reply) if isinstance(reply, JudgeError) else ""
    if not reason and len(told) != len(numbers):
        reason = f"{tier.judge.id} judged {len(told)} of {len(numbers)} claims"
    if reason:
        return dict.fromkeys(numbers, Judgement(Label.UNDECIDED, reason=reason))
    known = {sentence.index for sentence in sentences}
    return {
        number: known_only(judgement, known)
        for number, judgement in zip(numbers, told, strict=True)
        if isinstance(judgement, Judgement)
    }


def undecomposed(sentences: Sequence[Sentence], judge: str, reason: str, usage: Usage) -> Report:
    """The report where no claims could be made: each sentence of the answer is undecided."""
    claims = tuple(
        Claim(
            text=sentence.text,
            label=Label.UNDECIDED,
            local_label=Label.UNDECIDED,
            confidence=0.0,
            decided_by=judge,
            kind="attribute",
            answer_range=AnswerRange(sentence.start, sentence.end),
            sentence=sentence.index,
            reason=reason,
        )
        for sentence in sentences
    )
    return Report(and_join(claim.label for claim in claims), claims, judge, usage=usage)
