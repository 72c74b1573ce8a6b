"""Evidence is a sentence that exists: ids are checked, and a label needs what it stands on."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from otel_rt4chart.verify.model import Evidence, Judgement, Label, Relation, Sentence

RELATIONS: dict[Label, Relation] = {Label.ENTAILED: "supports", Label.CONTRADICTED: "contradicts"}


def known_only(judgement: Judgement, known: Container[int]) -> Judgement:
    """The judgement without sentence ids that do not exist, each id once."""
    kept = tuple(dict.fromkeys(index for index in judgement.sentences if index in known))
    return judgement if kept == judgement.sentences else replace(judgement, sentences=kept)


def is_borne_out(judgement: Judgement) -> bool:
    """True unless the label asks for evidence and the judgement names none (section 2, Eq. 1)."""
    return judgement.label not in RELATIONS or bool(judgement.sentences)


def quote(judgement: Judgement, context: Sequence[Sentence]) -> tuple[Evidence, ...]:
    """The judgement's sentences as they stand in the passages; none for any other label."""
    relation = RELATIONS.get(judgement.label)
    if relation is None:
        return ()
    return tuple(
        Evidence(s.passage_id, s.start, s.end, s.text, relation)
        for s in (context[index] for index in judgement.sentences)
    )
