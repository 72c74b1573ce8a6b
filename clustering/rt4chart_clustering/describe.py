"""A difference in words without names, numbers or quotations: what is embedded."""

from __future__ import annotations

from otel_rt4chart.verify.local.slots import read_slots
from rt4chart_clustering.difference import OPS, Difference, Op

PHRASES = {
    Op.EXCLUSION: "an exclusion of the source is ignored",
    Op.NUMBER: "a number differs from the source",
    Op.DATE: "a date or time differs from the source",
    Op.ENTITY: "a name differs from the source",
    Op.POLARITY: "the statement is negated or reversed",
    Op.SCOPE: "the scope is wider than in the source",
    Op.QUALIFIER: "a condition or hedge of the source is dropped",
    Op.ECHO: "the question is restated",
    Op.ADDITION: "words are added that the source does not have",
    Op.OTHER: "other words than in the source",
}


def describe(claim: str, label: str, found: Difference) -> str:
    """One line: the label, each operation in words, and the claim with its values masked."""
    phrases = "; ".join(PHRASES[op] for op in OPS if op in found.fired)
    return f"{label}: {phrases} | {masked(claim)}"


def masked(claim: str) -> str:
    """The claim's words in lower case, its names, numbers and dates replaced by what they are."""
    slots = read_slots(claim)
    marks: dict[int, str] = {}
    for name, spans in (
        ("[name]", [(one.start, one.end) for one in slots.names]),
        ("[number]", [(one.start, one.end) for one in slots.quantities]),
        ("[date]", [(one.start, one.end) for one in slots.moments]),
    ):
        for start, end in spans:
            for at, token in enumerate(slots.tokens):
                if start <= token.start < end:
                    marks[at] = name
    words: list[str] = []
    for at, token in enumerate(slots.tokens):
        word = marks.get(at, token.norm)
        if not words or words[-1] != word or not word.startswith("["):
            words.append(word)
    return " ".join(words)
