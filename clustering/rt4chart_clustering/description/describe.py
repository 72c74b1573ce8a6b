"""A difference in words without names, numbers or quotations: what is embedded."""

from __future__ import annotations

from otel_rt4chart.verify.language.slots import read_slots
from rt4chart_clustering.description.difference import OPS, POOL, Difference, Op

PHRASES = {
    Op.NUMBER: "a number differs from the source",
    Op.UNIT: "a unit differs from the source",
    Op.DATE: "a date or time differs from the source",
    Op.ENTITY: "a name differs from the source",
    Op.EXCLUSION: "an exclusion of the source is ignored",
    Op.POLARITY: "the statement is negated or a negation is dropped",
    Op.DIRECTION: "what rises, falls or compares goes the other way than in the source",
    Op.OPPOSITE: "a word is replaced by its opposite",
    Op.SCOPE: "the scope is wider than in the source",
    Op.QUALIFIER: "a condition of the source is dropped",
    Op.HEDGE: "how sure the source is differs",
    Op.ORDER: "what comes first or follows from what differs",
    Op.ECHO: "the question is restated",
    Op.MISPLACED: "a word of the source is said of something else",
    Op.QUALITY: "a quality or degree differs from the source",
    Op.TERM: "another word stands in the place of the source's",
    Op.ADDITION: "words are added that the source does not have",
    Op.OTHER: "other words than in the source",
}


def describe(claim: str, label: str, found: Difference) -> str:
    """One line: the label and each operation in words, or the masked claim where none explains it.

    Operations that explain a claim are all that its group is about; its topic would only divide it.
    """
    if found.op in POOL:
        return masked(claim)
    phrases = "; ".join(PHRASES[op] for op in OPS if op in found.fired and op not in POOL)
    return f"{label}: {phrases}"


def masked(claim: str) -> str:
    """The claim's content words in lower case, names, numbers and dates replaced by their kind."""
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
        word = marks.get(at, token.norm if token.is_content else "")
        if word and (not words or words[-1] != word or not word.startswith("[")):
            words.append(word)
    return " ".join(words)
