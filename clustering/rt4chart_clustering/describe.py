"""A difference in words without names, numbers or quotations: what is embedded."""

from __future__ import annotations

from otel_rt4chart.verify.local.slots import read_slots
from rt4chart_clustering.difference import OPS, Difference

PHRASES = {
    "exclusion": "an exclusion of the source is ignored",
    "number": "a number differs from the source",
    "date": "a date or time differs from the source",
    "entity": "a name differs from the source",
    "polarity": "the statement is negated or reversed",
    "scope": "the scope is wider than in the source",
    "qualifier": "a condition or hedge of the source is dropped",
    "echo": "the question is restated",
    "addition": "words are added that the source does not have",
    "other": "other words than in the source",
}


def describe(claim: str, found: Difference) -> str:
    """One line: the label, each operation in words, and the claim with its values masked."""
    phrases = "; ".join(PHRASES[op] for op in OPS if op in found.ops)
    return f"{found.label}: {phrases} | {masked(claim)}"


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
