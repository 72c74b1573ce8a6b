"""Structural doubt: order, scope and roles that stand between a claim and its nearest sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from otel_rt4chart.verify.core.model import Clash, Judgement, Label, Sentence
from otel_rt4chart.verify.local.bindings import rebound_value
from otel_rt4chart.verify.local.comparison import ComparedClaim, StructuralDoubt, compare
from otel_rt4chart.verify.local.differences import SETTLED
from otel_rt4chart.verify.local.event_order import reversed_order
from otel_rt4chart.verify.local.features import ClaimReading
from otel_rt4chart.verify.local.function_words import opposed_word
from otel_rt4chart.verify.local.joins import listed_words, names_apart, spliced_name
from otel_rt4chart.verify.local.roles import converse_of_same, exchanged_arguments, other_subject
from otel_rt4chart.verify.local.scope import (
    excluded_word,
    one_of_many,
    opposed_bound,
    other_negation,
    other_price,
    reversed_condition,
)
from otel_rt4chart.verify.local.verdict import passage_name

_CHECKS: tuple[Callable[[ComparedClaim], StructuralDoubt | None], ...] = (
    opposed_word,
    opposed_bound,
    excluded_word,
    exchanged_arguments,
    other_negation,
    other_subject,
    other_price,
    reversed_condition,
    one_of_many,
    reversed_order,
    converse_of_same,
    spliced_name,
    names_apart,
    listed_words,
)


def doubt_entailed(
    judgement: Judgement, reading: ClaimReading, sentences: Sequence[Sentence]
) -> Judgement:
    """An entailed claim is undecided where a structure sets it and the passages apart."""
    if judgement.label is not Label.ENTAILED:
        return judgement
    doubt = find_doubt(reading)
    if doubt is None:
        return judgement
    sentence = sentences[doubt.sentence]
    verb = "says" if doubt.found in sentence.text else "gives"  # a table is read in other words
    reason = (
        f"not sure: {passage_name(sentence)} {verb} “{doubt.found}”, the claim “{doubt.claimed}”"
    )
    return Judgement(Label.UNDECIDED, reason=reason)


def deny_excepted(
    judgement: Judgement, reading: ClaimReading, sentences: Sequence[Sentence]
) -> Judgement:
    """A baseless claim is contradicted by the sentence that says it of all but what it names.

    "Norway is served" by "All countries except Norway are served".
    """
    if judgement.label is not Label.BASELESS:
        return judgement
    comparison = compare(reading.claim, reading.alignment, reading.context)
    doubt = excluded_word(comparison)
    if doubt is None or not all(comparison.matches[doubt.sentence]):
        return judgement
    sentence = sentences[doubt.sentence]
    reason = f"“{doubt.claimed}” in the answer, “{doubt.found}” in {passage_name(sentence)}"
    clash = Clash("negation", doubt.claimed, doubt.found)
    return Judgement(Label.CONTRADICTED, (sentence.index,), judgement.confidence, reason, (clash,))


def find_doubt(reading: ClaimReading) -> StructuralDoubt | None:
    """The first structure that sets the claim and all of its nearest sentences apart."""
    if reading.claim.key in reading.context.keys:
        return None  # a copy
    comparison = compare(reading.claim, reading.alignment, reading.context)
    found = next(filter(None, (check(comparison) for check in _CHECKS)), None)
    return found or rebound_value(comparison, _known_values(reading))


def _known_values(reading: ClaimReading) -> frozenset[str]:
    """The claim's values of which it is known where in the passages they come from."""
    return frozenset(
        one.claimed
        for one in reading.differences
        if one.manner in SETTLED and one.slot in ("number", "date")
    )
