"""What a verification comes to: replies as judgements, judgements as claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from otel_rt4chart.errors import JudgeError
from otel_rt4chart.verify.cascade import Tier
from otel_rt4chart.verify.drafts import whole_claim
from otel_rt4chart.verify.evidence import known_only, quote
from otel_rt4chart.verify.grapheme import whole_graphemes
from otel_rt4chart.verify.join import and_join
from otel_rt4chart.verify.localise import localise
from otel_rt4chart.verify.model import (
    Claim,
    DraftClaim,
    Judgement,
    Label,
    Report,
    Sentence,
    Usage,
)
from otel_rt4chart.verify.segment import segment

UNSELECTED = Judgement(Label.BASELESS, confidence=1.0, reason="no sentence bears on it")
NO_EVIDENCE = Judgement(Label.BASELESS, reason="no_evidence")
_NOT_A_CLAIM = Judgement(Label.NOT_A_CLAIM, confidence=1.0)


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
    """The draft with its verdict; an unfaithful one on the narrowest range that carries it.

    Whatever the label, the range splits nothing that a reader sees as one character.
    """
    if not draft.is_claim:
        judgement, decided_by = _NOT_A_CLAIM, "decompose"
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
        answer_range=whole_graphemes(answer, where),
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
    junk = Judgement(Label.UNDECIDED, reason=f"{tier.judge.id} gave no judgement of this claim")
    return {
        number: known_only(judgement if isinstance(judgement, Judgement) else junk, known)
        for number, judgement in zip(numbers, told, strict=True)
    }


def undecomposed(answer: str, judge: str, reason: str, usage: Usage) -> Report:
    """The report where no claims could be made: each sentence that may hold one is undecided."""
    undecided = Judgement(Label.UNDECIDED, reason=reason)
    wholes = [draft for sentence in segment(answer) for draft in whole_claim(sentence)]
    claims = tuple(
        claim_from(draft, undecided, answer, (), local=None, decided_by=judge, nearest="")
        for draft in wholes
    )
    return Report(and_join(claim.label for claim in claims), claims, judge, usage=usage)
