"""Finds the stage at which the evidence of a failure was lost, from the passages of its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.spans.model.verdict import Stage, is_prompt_known
from otel_rt4chart.verify.core.model import ClaimStatus, Label
from otel_rt4chart.verify.language.tokens import content
from rt4chart_collector.store.issues.failures import Failure

# The share of a claim's content, weighted by rarity, that a context about it holds. On the demo's
# answers the own context of a baseless claim holds .42 (median), another one of the same route .10;
# one in ten of these holds .24.
SAME_TOPIC = 0.25
# A lost passage is the missing evidence where it holds that much, and so much more than what was
# kept. One in a hundred contexts of other answers of the route holds .38.
STATED, STATED_MARGIN = 0.5, 0.2
_MAX_TEXT = 20_000


class LossStage(StrEnum):
    """Where the evidence was lost, in the order of the pipeline."""

    NEVER_RETRIEVED = "never_retrieved"
    IN_RERANK = "lost_in_rerank"
    FROM_PROMPT = "cut_from_prompt"
    IGNORED = "present_but_ignored"
    CONTRADICTED = "present_and_contradicted"
    LEFT_OUT = "present_and_left_out"
    UNKNOWN = "unknown"


STAGE_NAMES: Mapping[LossStage, str] = {
    LossStage.NEVER_RETRIEVED: "never retrieved",
    LossStage.IN_RERANK: "lost in rerank",
    LossStage.FROM_PROMPT: "cut from the prompt",
    LossStage.IGNORED: "present but ignored",
    LossStage.CONTRADICTED: "present and contradicted",
    LossStage.LEFT_OUT: "present and left out",
    LossStage.UNKNOWN: "unknown",
}
STAGE_ADVICE: Mapping[LossStage, str] = {
    LossStage.NEVER_RETRIEVED: (
        "No passage mentions it. Check whether the document exists and is indexed, then check the "
        "query, the filters and the number of retrieved passages. Let the prompt say what to "
        "answer if the passages do not mention the subject."
    ),
    LossStage.IN_RERANK: (
        "It was retrieved, and the reranker dropped it. Keep more of the retrieved passages, or "
        "check their scores: a reranker for the domain may rank them differently."
    ),
    LossStage.FROM_PROMPT: (
        "It was retrieved and did not reach the model. Check the limit of the context, the order "
        "in which passages are cut, and the prompt template."
    ),
    LossStage.IGNORED: (
        "The passages mention it, and the answer goes beyond them. Tell the model to answer from "
        "the passages alone and to say what they leave open. Fewer and shorter passages help."
    ),
    LossStage.CONTRADICTED: (
        "The model had the sentence and contradicts it. Have it quote the sentence before it "
        "answers, lower the temperature, or try another model. Check numbers and exclusions."
    ),
    LossStage.LEFT_OUT: (
        "The model had the sentence that limits, denies or replaces the claim and left it out. "
        "Have it state the exclusions, conditions, dates and doubts of every passage on the "
        "subject, and say where passages disagree. Put the passages of one subject together."
    ),
    LossStage.UNKNOWN: (
        "The texts of the lost passages are no longer stored. Explain sooner, or keep spans longer."
    ),
}


@dataclass(frozen=True, slots=True)
class PassageSeen:
    """A passage that a step of the pipeline saw; `text` is None if its span is no longer stored."""

    id: str
    stages: frozenset[Stage]
    is_context: bool
    text: str | None = None


def find_loss_stage(failure: Failure, passages: Sequence[PassageSeen]) -> LossStage:
    """The stage at which this failure's evidence was lost.

    The evidence of a contradicted or misleading claim is the sentence that contradicts or limits
    it. A claim that restates the question, or cites another passage, lost none. A baseless claim
    has none: its content is searched for in the passages that were dropped, then in those that
    were kept, or in the nearest sentence of the context if their texts are not known.
    """
    if failure.status in (ClaimStatus.RESTATES_PREMISE, ClaimStatus.MISCITED):
        return LossStage.IGNORED
    if not needs_texts(failure):
        return _of_known_evidence(failure, passages)
    stated = content(failure.claim)
    lost = [passage for passage in passages if _is_dropped(passage, passages)]
    kept = _share_in_context(stated, failure.nearest, passages, lost)
    shares = [
        (_share_stated(stated, passage.text), passage)
        for passage in lost
        if passage.text is not None
    ]
    share, best = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    if best is not None and share >= STATED and share >= kept + STATED_MARGIN:
        return _where_dropped(best, passages)
    if kept >= SAME_TOPIC:
        return LossStage.IGNORED
    return LossStage.UNKNOWN if len(shares) < len(lost) else LossStage.NEVER_RETRIEVED


def needs_texts(failure: Failure) -> bool:
    """True if the passages' texts may change the result."""
    return failure.label is Label.BASELESS


def _of_known_evidence(failure: Failure, passages: Sequence[PassageSeen]) -> LossStage:
    by_id = {passage.id: passage for passage in passages}
    known = failure.against or failure.evidence
    named = [by_id[evidence.passage_id] for evidence in known if evidence.passage_id in by_id]
    gone = [passage for passage in named if _is_dropped(passage, passages)]
    return (
        _where_dropped(gone[0], passages)
        if named and len(gone) == len(named)
        else LossStage.LEFT_OUT
        if failure.is_misleading
        else LossStage.CONTRADICTED
    )


def _is_dropped(passage: PassageSeen, passages: Sequence[PassageSeen]) -> bool:
    """True for a passage that was not kept, or is missing from a prompt that has other passages."""
    if Stage.EARLIER in passage.stages:
        return False
    if not passage.is_context:
        return True
    is_known = is_prompt_known(one.stages for one in passages)
    return is_known and Stage.PROMPT not in passage.stages


def _where_dropped(passage: PassageSeen, passages: Sequence[PassageSeen]) -> LossStage:
    """The stage that dropped a passage."""
    was_reranked = any(Stage.RERANKED in passage.stages for passage in passages)
    later = {Stage.RERANKED, Stage.TEMPLATE, Stage.TOOL, Stage.PROMPT} & passage.stages
    return LossStage.IN_RERANK if was_reranked and not later else LossStage.FROM_PROMPT


def _share_in_context(
    stated: Mapping[str, float],
    nearest: str,
    passages: Sequence[PassageSeen],
    lost: Sequence[PassageSeen],
) -> float:
    """The share of the claim's content in what reached the model."""
    kept = [passage.text for passage in passages if passage not in lost]
    if kept and None not in kept:
        return _share_stated(stated, "\n".join(text or "" for text in kept))
    is_lost = bool(nearest) and any(passage.text and nearest in passage.text for passage in lost)
    return 0.0 if is_lost else _share_stated(stated, nearest)


def _share_stated(stated: Mapping[str, float], text: str | None) -> float:
    """The share of the claim's content that the text contains."""
    weight = sum(stated.values())
    if not weight or not text:
        return 0.0
    found = content(text[:_MAX_TEXT])
    return sum(rarity for stem, rarity in stated.items() if stem in found) / weight
