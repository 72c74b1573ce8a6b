"""What a verdict tells in words: the values that stand apart, the words that no sentence has."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify.local.differences import Difference
from otel_rt4chart.verify.local.features import Reading
from otel_rt4chart.verify.model import Sentence

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
