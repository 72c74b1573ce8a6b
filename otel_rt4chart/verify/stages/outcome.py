"""Replies as judgements, judgements as claims, each in the narrowest range of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.cascade import Tier
from otel_rt4chart.verify.core.evidence import and_join, known_only, quote
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Claim,
    DraftClaim,
    Judgement,
    Label,
    Report,
    Sentence,
    Usage,
)
from otel_rt4chart.verify.decompose.drafts import whole_claim
from otel_rt4chart.verify.language.tokens import Token, tokenize
from otel_rt4chart.verify.text.graphemes import whole_graphemes
from otel_rt4chart.verify.text.segment import segment

# Unaligned words are the range only where they are clearly fewer than the claim's.
NARROW = 0.6


def localise(answer: str, draft: DraftClaim, judgement: Judgement, nearest: str) -> AnswerRange:
    """The clashing value, else the words that `nearest` lacks, else the claim; never empty.

    Whole graphemes: a range never begins or ends before a combining mark or a joiner.
    """
    found = _clash(answer, draft, judgement)
    if found is None and nearest:
        found = _strange_words(answer, draft.range, nearest)
    return whole_graphemes(answer, found or draft.range)


def _clash(answer: str, draft: DraftClaim, judgement: Judgement) -> AnswerRange | None:
    """From the first to the last claimed value that stands in the claim's own words."""
    low, high = draft.range
    places = [
        found
        for clash in judgement.clashes
        if (found := _place(clash.claimed, answer, low, high)) is not None
    ]
    if not places:
        return None
    widest = AnswerRange(min(at for at, _ in places), max(end for _, end in places))
    return widest if widest.end - widest.start <= NARROW * (high - low) else AnswerRange(*places[0])


def _place(value: str, answer: str, low: int, high: int) -> tuple[int, int] | None:
    """Where the value first stands as a word of its own, so that "1" is not found in "14"."""
    if not value:
        return None
    whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)").search(answer, low, high)
    at = whole.start() if whole else answer.find(value, low, high)
    return (at, at + len(value)) if at >= 0 else None


def _strange_words(answer: str, own: AnswerRange, nearest: str) -> AnswerRange | None:
    """The hull of the answer's content words, in the claim's range, that the nearest lacks.

    The answer's words, not the claim's: a judge may word a claim in its own way.
    """
    text = answer[own.start : own.end]
    known = {token.stem for token in tokenize(nearest)}
    content = [token for token in tokenize(text) if token.is_content]
    strange: list[Token] = [token for token in content if token.stem not in known]
    if not strange or len(strange) == len(content):
        return None
    left, right = strange[0].start, strange[-1].end
    if right - left > NARROW * len(text):
        return None
    return AnswerRange(own.start + left, own.start + right)


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
