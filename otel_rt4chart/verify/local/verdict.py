"""From the odds of a claim to its judgement: label, evidence, and the clash in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Clash, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.language.context import Context
from otel_rt4chart.verify.language.detection import are_apart, tongue
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.local.differences import Difference
from otel_rt4chart.verify.local.features import Reading

TOLD = 3
_SHOWN = 160  # characters of a sentence
# Manners that hold another value against the claim's; of terms, those that are no mere wording.
RIVALS = ("clash", "opposite", "sibling")
_SURE = ("opposite", "sibling")
# The order in which differences are told: values that can be read off before single words.
_TELLING = ("number", "date", "name", "negation", "quantifier", "qualifier", "term")


def tell(reading: Reading, *, rivals: bool) -> tuple[Difference, ...]:
    """The differences worth telling, one for each claimed value, the most telling first."""
    told: dict[str, Difference] = {}
    swapped = [one for one in reading.differences if one.manner == "swapped"]
    if rivals and swapped:
        return tuple(swapped)
    ordered = sorted(
        reading.differences, key=lambda one: (_TELLING.index(one.slot), one.manner not in _SURE)
    )
    for one in ordered:
        if (one.manner in RIVALS) == rivals:
            known = one.claimed if one.slot != "negation" else one.slot
            told.setdefault(known, one)
    firm = [one for one in told.values() if one.slot != "term" or one.manner in _SURE]
    return tuple((firm or list(told.values()))[:TOLD])


def covered(reading: Reading) -> str:
    """How much of the claim the passages say in its own words."""
    return f"{reading.laid.coverage:.0%} of its words' weight stands in the passage"


def missing(reading: Reading, strange: Sequence[str]) -> str:
    """Which words of the claim no sentence has."""
    words = strange or [
        word.text
        for word, met in zip(reading.claim.words, reading.laid.equivalents, strict=True)
        if not met
    ]
    if not words:
        return "no sentence of the passages joins its words"
    return "not in the passages: " + ", ".join(f"“{word}”" for word in words[:TOLD])


def against(told: Sequence[Difference], sentences: Sequence[Sentence]) -> str:
    """Each claimed value beside the one that a passage has in its place."""
    return "; ".join(
        f"“{one.claimed}” in the answer, “{one.found}” in {_where(sentences[one.sentence])}"
        for one in told
    )


def beside(words: Sequence[str], sentence: Sentence) -> str:
    """Words of the answer against a sentence that has no single word in their place."""
    text = sentence.reading.strip()
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"
    listed = ", ".join(f"“{word}”" for word in words[:TOLD])
    return f"{listed} in the answer, but {_where(sentence)} says: “{shown}”"


def _where(sentence: Sentence) -> str:
    return f"passage {sentence.passage_id}" if sentence.passage_id else "the passage"


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
