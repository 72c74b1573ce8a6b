"""At which stage the evidence of one failure was lost, from what was seen on the way to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.spans.model.verdict import Stage
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.language.tokens import content
from rt4chart_collector.store.issues.failures import Failure

# The share of a claim's content, weighted by rarity, that a context about it holds. On the demo's
# answers the own context of a baseless claim holds .42 (median), another one of the same route .10;
# one in ten of these holds .24.
SPOKEN_OF = 0.25
# A lost passage is the missing evidence where it holds that much, and so much more than what was
# kept. One in a hundred contexts of other answers of the route holds .38.
HELD, BETTER = 0.5, 0.2
_LONGEST = 20_000


class Lost(StrEnum):
    """Where the evidence was lost, in the order of the way to the answer."""

    NEVER_RETRIEVED = "never_retrieved"
    IN_RERANK = "lost_in_rerank"
    FROM_PROMPT = "cut_from_prompt"
    IGNORED = "present_but_ignored"
    CONTRADICTED = "present_and_contradicted"
    UNKNOWN = "unknown"


WORDS: Mapping[Lost, str] = {
    Lost.NEVER_RETRIEVED: "never retrieved",
    Lost.IN_RERANK: "lost in rerank",
    Lost.FROM_PROMPT: "cut from the prompt",
    Lost.IGNORED: "present but ignored",
    Lost.CONTRADICTED: "present and contradicted",
    Lost.UNKNOWN: "not known",
}
ADVICE: Mapping[Lost, str] = {
    Lost.NEVER_RETRIEVED: (
        "No passage speaks of it: look whether the document exists and is indexed, then at the "
        "query, the filters and the number of passages retrieved. Let the prompt say what to "
        "answer where the passages are silent."
    ),
    Lost.IN_RERANK: (
        "It was retrieved and the reranker dropped it: keep more of what it is given, or look at "
        "the scores of these passages; a model of the domain may rank them otherwise."
    ),
    Lost.FROM_PROMPT: (
        "It was there and did not reach the model: look at the limit of the context, the order in "
        "which passages are cut, and the template."
    ),
    Lost.IGNORED: (
        "The passages speak of it and the answer goes beyond them: tell the model to answer from "
        "the passages alone and to say what they leave open; fewer and shorter passages help."
    ),
    Lost.CONTRADICTED: (
        "The model had the sentence and says otherwise: have it quote the sentence before it "
        "answers, lower the temperature, or try another model; check numbers and exclusions after."
    ),
    Lost.UNKNOWN: (
        "What the lost passages said is stored no more: explain sooner, or keep spans longer."
    ),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A passage on the way to an answer; `text` is None where its span is stored no more."""

    id: str
    stages: frozenset[Stage]
    is_context: bool
    text: str | None = None


def lost_at(failure: Failure, passages: Sequence[Seen]) -> Lost:
    """The stage at which this failure's evidence was lost.

    A contradicted claim's evidence is the sentence that denies it. A baseless claim has none: it is
    looked for among the passages that were seen and not kept, then in those that were, or in the
    sentence of the context that is nearest where their texts are not known.
    """
    if failure.label is Label.CONTRADICTED:
        return _of_contradicted(failure, passages)
    stated = content(failure.claim)
    lost = [one for one in passages if _is_cut(one, passages)]
    kept = _held_by_context(stated, failure.nearest, passages, lost)
    told = [(_held(stated, one.text), one) for one in lost if one.text is not None]
    share, best = max(told, key=lambda pair: pair[0], default=(0.0, None))
    if best is not None and share >= HELD and share >= kept + BETTER:
        return _left(best, passages)
    if kept >= SPOKEN_OF:
        return Lost.IGNORED
    return Lost.UNKNOWN if len(told) < len(lost) else Lost.NEVER_RETRIEVED


def needs_texts(failure: Failure) -> bool:
    """True where the passages' texts may change the result."""
    return failure.label is not Label.CONTRADICTED


def _of_contradicted(failure: Failure, passages: Sequence[Seen]) -> Lost:
    by_id = {one.id: one for one in passages}
    named = [by_id[one.passage_id] for one in failure.evidence if one.passage_id in by_id]
    gone = [one for one in named if _is_cut(one, passages)]
    return _left(gone[0], passages) if named and len(gone) == len(named) else Lost.CONTRADICTED


def _is_cut(passage: Seen, passages: Sequence[Seen]) -> bool:
    """True for one that was not kept, or is known not to stand in the prompt that others are in."""
    if not passage.is_context:
        return True
    is_known = any(Stage.PROMPT in one.stages for one in passages)
    return is_known and Stage.PROMPT not in passage.stages


def _left(passage: Seen, passages: Sequence[Seen]) -> Lost:
    """Where a passage that was seen was left behind."""
    was_reranked = any(Stage.RERANKED in one.stages for one in passages)
    later = {Stage.RERANKED, Stage.TEMPLATE, Stage.TOOL, Stage.PROMPT} & passage.stages
    return Lost.IN_RERANK if was_reranked and not later else Lost.FROM_PROMPT


def _held_by_context(
    stated: Mapping[str, float], nearest: str, passages: Sequence[Seen], lost: Sequence[Seen]
) -> float:
    """How much of the claim's content stands in what reached the model."""
    kept = [one.text for one in passages if one not in lost]
    if kept and None not in kept:
        return _held(stated, "\n".join(text or "" for text in kept))
    is_lost = bool(nearest) and any(one.text and nearest in one.text for one in lost)
    return 0.0 if is_lost else _held(stated, nearest)


def _held(stated: Mapping[str, float], text: str | None) -> float:
    """The share of the claim's content that the text holds."""
    weight = sum(stated.values())
    if not weight or not text:
        return 0.0
    found = content(text[:_LONGEST])
    return sum(rarity for stem, rarity in stated.items() if stem in found) / weight
