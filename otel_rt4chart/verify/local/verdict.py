"""From the odds of a claim to its judgement: label, evidence, and what clashes in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from otel_rt4chart.verify.local.context import Context
from otel_rt4chart.verify.local.differences import Difference
from otel_rt4chart.verify.local.features import Reading
from otel_rt4chart.verify.local.slots import Slots
from otel_rt4chart.verify.local.telling import TOLD, against, beside, covered, missing, tell
from otel_rt4chart.verify.local.tokens import content
from otel_rt4chart.verify.local.tongue import are_apart, tongue
from otel_rt4chart.verify.model import Clash, DraftClaim, Judgement, Label, Sentence

MOST = 0.99  # no verdict in this process is certain


class Odds(NamedTuple):
    """P(unfaithful), P(contradicted) of the unfaithful, and from where on either is the verdict."""

    unfaithful: float
    contradicted: float
    flagged_from: float
    contradicted_from: float


def settled(
    draft: DraftClaim, claim: Slots, context: Context, sentences: Sequence[Sentence]
) -> Judgement | None:
    """The judgement of a claim that needs no measuring."""
    if not draft.is_claim:
        return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
    if not claim.content and not claim.quantities:
        return Judgement(Label.UNDECIDED, reason="nothing to check")
    copied = context.keys.get(claim.key)
    if copied is not None:
        index = (sentences[copied].index,)
        return Judgement(Label.ENTAILED, index, MOST, "stands word for word in the passage")
    if are_apart(tongue(claim.tokens), context.tongue):
        return Judgement(
            Label.UNDECIDED,
            reason=f"the passages are in another language ({context.tongue}): "
            "this judge compares words",
        )
    return None


def verdict(
    reading: Reading,
    odds: Odds,
    sentences: Sequence[Sentence],
    near: Sequence[Sentence] = (),
    marked: Sequence[str] = (),
) -> Judgement:
    """Entailed, contradicted by what stands against it, or baseless.

    `near` and `marked` are what a network read the claim beside, best first, and the words of the
    claim that it holds wrong. The confidence is that of the claim being supported, or of it not
    being so: which kind an unsupported claim is of, is said by the label alone.
    """
    leaned_on = tuple(sorted(sentences[at].index for at in reading.laid.sentences))
    leaned_on = leaned_on or tuple(one.index for one in near)
    if odds.unfaithful < odds.flagged_from and leaned_on:
        sure = min(MOST, 1.0 - odds.unfaithful)
        return Judgement(Label.ENTAILED, leaned_on, sure, covered(reading))
    sure = min(MOST, odds.unfaithful)
    if odds.contradicted >= odds.contradicted_from:
        clashing = _borne_out(tell(reading, rivals=True), marked)
        if clashing:
            indices = tuple(sorted({sentences[one.sentence].index for one in clashing}))
            return Judgement(
                Label.CONTRADICTED, indices, sure, against(clashing, sentences),
                tuple(Clash(one.slot, one.claimed, one.found) for one in clashing),
            )  # fmt: skip
        if near and marked:
            clashes = tuple(Clash("term", word) for word in marked[:TOLD])
            reason = beside(marked, near[0])
            return Judgement(Label.CONTRADICTED, (near[0].index,), sure, reason, clashes)
    strange = tell(reading, rivals=False)
    words = [one.claimed for one in strange] or list(marked[:TOLD])
    slots = [one.slot for one in strange] or ["term"] * len(words)
    return Judgement(
        Label.BASELESS,
        confidence=sure,
        reason=missing(reading, words),
        clashes=tuple(Clash(slot, word) for slot, word in zip(slots, words, strict=True)),
    )


def _borne_out(told: Sequence[Difference], marked: Sequence[str]) -> Sequence[Difference]:
    """Words that merely stand in each other's place clash where the network is surest of them."""
    if not marked:
        return told
    known = set(content(marked[0]))
    return [
        one
        for one in told
        if one.slot != "term" or one.manner == "opposite" or known & set(content(one.claimed))
    ]
