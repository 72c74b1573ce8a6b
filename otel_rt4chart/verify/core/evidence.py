"""Checks of evidence, and RT4CHART's two joins: of labels over chunks, and over claims."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    Evidence,
    Judgement,
    Label,
    Relation,
    Sentence,
)

RELATIONS: dict[Label, Relation] = {Label.ENTAILED: "supports", Label.CONTRADICTED: "contradicts"}


def drop_unknown_sentences(judgement: Judgement, known: Container[int]) -> Judgement:
    """The judgement with only the sentence ids that exist, each once."""
    kept = tuple(dict.fromkeys(index for index in judgement.sentences if index in known))
    return judgement if kept == judgement.sentences else replace(judgement, sentences=kept)


def has_required_evidence(judgement: Judgement) -> bool:
    """False where the label requires evidence and the judgement names none (section 2, Eq. 1)."""
    return judgement.label not in RELATIONS or bool(judgement.sentences)


def quote_evidence(judgement: Judgement, context: Sequence[Sentence]) -> tuple[Evidence, ...]:
    """The judgement's sentences, quoted from the passages; none for a label without evidence."""
    relation = RELATIONS.get(judgement.label)
    if relation is None:
        return ()
    return tuple(
        Evidence(s.passage_id, s.start, s.end, s.text, relation)
        for s in (context[index] for index in judgement.sentences)
    )


def or_join(labels: Iterable[Label]) -> Label:
    """A claim's local label from those of its chunks (section 3.4): contradicted, else entailed.

    A chunk that could not be judged decides nothing; where none could be, the claim is undecided.
    """
    # By priority, not by majority: most chunks are about something else, so for every claim most
    # votes are baseless.
    seen = set(labels)
    # A chunk that contradicts outweighs one that entails: the global step settles the conflict.
    for label in (Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS):
        if label in seen:
            return label
    return Label.UNDECIDED if Label.UNDECIDED in seen else Label.BASELESS


def and_join(labels: Iterable[Label]) -> AnswerLabel:
    """An answer's label from those of its claims (section 3.6); non-claims do not count."""
    seen = set(labels) - {Label.NOT_A_CLAIM}
    if not seen:
        return AnswerLabel.NO_CLAIMS
    # Undecided comes last but before entailed: an answer is entailed only if all its claims are.
    for label in (Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED):
        if label in seen:
            return AnswerLabel(label.value)
    return AnswerLabel.ENTAILED
