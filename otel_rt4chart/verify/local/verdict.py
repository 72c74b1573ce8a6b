"""The judgement of a claim from its odds: label, evidence, and a reason in words."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify.core.model import Clash, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.language.context import ContextIndex
from otel_rt4chart.verify.language.detection import are_different_languages, detect_language
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.local.differences import SlotDifference
from otel_rt4chart.verify.local.features import ClaimReading
from otel_rt4chart.verify.local.scoring import Odds

MAX_SHOWN = 3  # differences or words in one reason
_QUOTE_LENGTH = 160  # characters of a sentence that a reason quotes
# Manners that set another value against the claim's.
CLASHING = ("clash", "opposite", "sibling")
# Of differences between terms, those that are more than another wording.
_DEFINITE = ("opposite", "sibling")
# The order in which differences are reported: comparable values before single words.
_SLOT_ORDER = ("number", "date", "name", "negation", "quantifier", "qualifier", "term")


def select_differences(reading: ClaimReading, *, rivals: bool) -> tuple[SlotDifference, ...]:
    """The differences to report, one for each claimed value, the strongest first.

    With `rivals`, only those that set another value against the claim's; else only the others.
    """
    selected: dict[str, SlotDifference] = {}
    swapped = [one for one in reading.differences if one.manner == "swapped"]
    if rivals and swapped:
        return tuple(swapped)
    ordered = sorted(
        reading.differences,
        key=lambda one: (_SLOT_ORDER.index(one.slot), one.manner not in _DEFINITE),
    )
    for one in ordered:
        if (one.manner in CLASHING) == rivals:
            known = one.claimed if one.slot != "negation" else one.slot
            selected.setdefault(known, one)
    definite = [one for one in selected.values() if one.slot != "term" or one.manner in _DEFINITE]
    return tuple((definite or list(selected.values()))[:MAX_SHOWN])


def coverage_reason(reading: ClaimReading) -> str:
    """The share of the claim that the passages say in its own words."""
    return f"{reading.alignment.coverage:.0%} of its words' weight stands in the passage"


def missing_words_reason(reading: ClaimReading, words: Sequence[str]) -> str:
    """The words of the claim that no sentence has; `words`, where they are known already."""
    words = words or [
        word.text
        for word, met in zip(reading.claim.words, reading.alignment.equivalents, strict=True)
        if not met
    ]
    if not words:
        return "no sentence of the passages joins its words"
    return "not in the passages: " + ", ".join(f"“{word}”" for word in words[:MAX_SHOWN])


def clash_reason(differences: Sequence[SlotDifference], sentences: Sequence[Sentence]) -> str:
    """Each claimed value, and the value that a passage has in its place."""
    return "; ".join(
        f"“{one.claimed}” in the answer, “{one.found}” in {_passage_name(sentences[one.sentence])}"
        for one in differences
    )


def marked_words_reason(words: Sequence[str], sentence: Sentence) -> str:
    """Words that a network marked as wrong, and the sentence that it read them with."""
    text = sentence.reading.strip()
    shown = text if len(text) <= _QUOTE_LENGTH else text[: _QUOTE_LENGTH - 1].rstrip() + "…"
    listed = ", ".join(f"“{word}”" for word in words[:MAX_SHOWN])
    return f"{listed} in the answer, but {_passage_name(sentence)} says: “{shown}”"


def _passage_name(sentence: Sentence) -> str:
    return f"passage {sentence.passage_id}" if sentence.passage_id else "the passage"


MAX_CONFIDENCE = 0.99  # no verdict in this process is certain


def early_judgement(
    draft: DraftClaim, claim: Slots, context: ContextIndex, sentences: Sequence[Sentence]
) -> Judgement | None:
    """The judgement of a claim that needs no features; None for any other claim.

    Such are: no claim, nothing to compare, a verbatim copy, another language.
    """
    if not draft.is_claim:
        return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
    if not claim.content and not claim.quantities:
        return Judgement(Label.UNDECIDED, reason="nothing to check")
    copied = context.keys.get(claim.key)
    if copied is not None:
        index = (sentences[copied].index,)
        return Judgement(
            Label.ENTAILED, index, MAX_CONFIDENCE, "stands word for word in the passage"
        )
    if are_different_languages(detect_language(claim.tokens), context.language):
        return Judgement(
            Label.UNDECIDED,
            reason=f"the passages are in another language ({context.language}): "
            "this judge compares words",
        )
    return None


def judgement_from_odds(
    reading: ClaimReading,
    odds: Odds,
    sentences: Sequence[Sentence],
    near: Sequence[Sentence] = (),
    marked: Sequence[str] = (),
) -> Judgement:
    """Entailed; contradicted, where a sentence sets something against the claim; else baseless.

    `near` are the sentences that a network read with the claim, best first, and `marked` the words
    of the claim that it holds wrong; a judge without a network gives neither. The confidence is
    that of "supported" against "not supported": it says nothing of contradicted against baseless.
    """
    evidence = tuple(sorted(sentences[at].index for at in reading.alignment.sentences))
    evidence = evidence or tuple(one.index for one in near)
    if odds.unfaithful < odds.unfaithful_threshold and evidence:
        confidence = min(MAX_CONFIDENCE, 1.0 - odds.unfaithful)
        return Judgement(Label.ENTAILED, evidence, confidence, coverage_reason(reading))
    confidence = min(MAX_CONFIDENCE, odds.unfaithful)
    if odds.contradicted >= odds.contradicted_threshold:
        clashing = _confirmed_by_marks(select_differences(reading, rivals=True), marked)
        if clashing:
            indices = tuple(sorted({sentences[one.sentence].index for one in clashing}))
            return Judgement(
                Label.CONTRADICTED, indices, confidence, clash_reason(clashing, sentences),
                tuple(Clash(one.slot, one.claimed, one.found) for one in clashing),
            )  # fmt: skip
        if near and marked:
            clashes = tuple(Clash("term", word) for word in marked[:MAX_SHOWN])
            reason = marked_words_reason(marked, near[0])
            return Judgement(Label.CONTRADICTED, (near[0].index,), confidence, reason, clashes)
    missing = select_differences(reading, rivals=False)
    words = [one.claimed for one in missing] or list(marked[:MAX_SHOWN])
    slots = [one.slot for one in missing] or ["term"] * len(words)
    return Judgement(
        Label.BASELESS,
        confidence=confidence,
        reason=missing_words_reason(reading, words),
        clashes=tuple(Clash(slot, word) for slot, word in zip(slots, words, strict=True)),
    )


def _confirmed_by_marks(
    differences: Sequence[SlotDifference], marked: Sequence[str]
) -> Sequence[SlotDifference]:
    """A word in another one's place counts only where it is the network's most likely error."""
    if not marked:
        return differences
    known = set(content(marked[0]))
    return [
        one
        for one in differences
        if one.slot != "term" or one.manner == "opposite" or known & set(content(one.claimed))
    ]
