"""Where the right evidence of an unsupported claim was lost: in retrieval, or after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.spans.model.verdict import Stage, StagedPassage
from otel_rt4chart.verify.core.model import Passage

# Given passages, the ids of those that support or contradict the claim.
FindEvidence = Callable[[Sequence[Passage]], Collection[str]]


class EvidenceLoss(StrEnum):
    """Where the evidence was lost; the first that applies, from the generator backwards."""

    IGNORED_BY_GENERATOR = "ignored_by_generator"
    CUT_FROM_PROMPT = "cut_from_prompt"
    DROPPED_BY_RERANKER = "dropped_by_reranker"
    NEVER_RETRIEVED = "never_retrieved"


@dataclass(frozen=True, slots=True)
class LostEvidence:
    """Where the evidence was lost, and the ids of the passages that held it."""

    loss: EvidenceLoss
    passages: tuple[str, ...] = ()


def find_lost_evidence(
    staged: Sequence[StagedPassage], context: Collection[str], find_evidence: FindEvidence
) -> LostEvidence:
    """Where the right evidence of a claim was lost that the context does not support.

    `staged` are all passages of the answer with their stages, `context` the ids of those that the
    generator received. `find_evidence` is asked at most three times, each time about passages that
    were lost at the same place, and not at all about a place where none was lost.
    """
    groups: dict[EvidenceLoss, list[Passage]] = {loss: [] for loss in EvidenceLoss}
    seen = {stage for one in staged for stage in one.stages}
    for one in staged:
        groups[_place(one, context, seen)].append(one.passage)
    for loss, passages in groups.items():
        known = set(find_evidence(passages)) if passages else set()
        if found := tuple(one.id for one in passages if one.id in known):
            return LostEvidence(loss, found)
    return LostEvidence(EvidenceLoss.NEVER_RETRIEVED)


def _place(one: StagedPassage, context: Collection[str], seen: Collection[Stage]) -> EvidenceLoss:
    """How far a passage came. Where no prompt is known, the context is what reached it."""
    has_arrived = Stage.PROMPT in one.stages if Stage.PROMPT in seen else one.passage.id in context
    if has_arrived:
        return EvidenceLoss.IGNORED_BY_GENERATOR
    was_dropped = (
        Stage.RERANKED in seen
        and Stage.RETRIEVED in one.stages
        and Stage.RERANKED not in one.stages
    )
    return EvidenceLoss.DROPPED_BY_RERANKER if was_dropped else EvidenceLoss.CUT_FROM_PROMPT
