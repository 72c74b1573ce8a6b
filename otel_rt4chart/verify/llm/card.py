"""The reply form of the grounding-check card: claims with a copied phrase instead of numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.model import Label, Sentence
from otel_rt4chart.verify.decompose.grounding import claim_signal, grounding_problem
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.llm.conversation import LABEL_ODDS
from otel_rt4chart.verify.llm.replies import label_of
from otel_rt4chart.verify.llm.split_task import SplitTask

MAX_WORDS = 40  # of a decision basis, which is one sentence
_MAX_CHARACTERS = 400
_ACROSS = 4  # sentences that one phrase may be copied across
_BASIS = re.compile(r'"decision_basis"\s*:\s*("(?:[^"\\]|\\.)*")')

Item = Mapping[str, Any]


def is_card(items: Sequence[Item]) -> bool:
    """True where entries have the card's `text` in place of a claim and its sentence."""
    return any(isinstance(item.get("text"), str) and "claim" not in item for item in items)


def entries_from_card(
    items: Sequence[Item],
    units: Sequence[int],
    split: SplitTask,
    context: Sequence[Sentence],
    question: str,
) -> list[Item]:
    """The card's claims in the form of an audit: with their sentence and the numbers of evidence.

    A sentence of which the card has no claim claims nothing, unless a number or a denial in it
    shows that it does. The card names no evidence of a contradiction: the sentence of the passages
    that is most like the claim stands for it.
    """
    linker = Linker(context)
    places = {one.index: number for number, one in enumerate(context, start=1)}
    found: list[Item] = []
    for item in items:
        claim = item.get("text")
        if not isinstance(claim, str) or not claim.strip():
            continue
        numbers = _containing(item.get("evidence_phrase"), context)
        if not numbers and label_of(item.get("label")) is Label.CONTRADICTED:
            links = linker.candidates(claim, limit=1)
            numbers = [places[link.sentence] for link in links]
        unit = _own_unit(claim, units, split, question)
        place = {"sentence": split.number(unit), "claim": claim, "sentences": numbers}
        odds = {LABEL_ODDS: item[LABEL_ODDS]} if LABEL_ODDS in item else {}
        found.append({"label": item.get("label"), **place, **odds})
    named = {entry["sentence"] for entry in found}
    return [*found, *_silent(units, split, named)]


def _silent(units: Sequence[int], split: SplitTask, named: set[int]) -> Iterator[Item]:
    for unit in units:
        own, number = split.texts_of(unit)[0], split.number(unit)
        if number not in named and claim_signal(own) is None:
            yield {"sentence": number, "claim": own, "is_claim": False}


def _own_unit(claim: str, units: Sequence[int], split: SplitTask, question: str) -> int:
    """The sentence of the answer that says the claim: grounded in it, then most words in common."""
    words = content(claim)

    def fit(unit: int) -> tuple[bool, float]:
        own, *before = split.texts_of(unit)
        shared = words.keys() & content(own).keys()
        is_grounded = grounding_problem(claim, own, [*before, question]) is None
        return is_grounded, sum(words[word] for word in shared)

    return max(units, key=fit)


def _containing(phrase: object, context: Sequence[Sentence]) -> list[int]:
    """The numbers of the sentences that the phrase was copied from; none where it is in none."""
    sought = _normalized(phrase) if isinstance(phrase, str) else ""
    if not sought:
        return []
    for length in range(1, _ACROSS + 1):
        for at in range(len(context) - length + 1):
            some = context[at : at + length]
            if len({one.passage_id for one in some}) > 1:
                continue
            texts = (" ".join(one.text for one in some), " ".join(one.reading for one in some))
            if any(sought in _normalized(text) for text in texts):
                return list(range(at + 1, at + length + 1))
    return []


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:!?\"'“”")


def decision_basis(text: str) -> str:
    """The card's one sentence on what decided, at most 40 words; empty where it has none."""
    if (match := _BASIS.search(text)) is None:
        return ""
    try:
        written = json.loads(match.group(1))
    except ValueError:
        return ""
    return one_line(" ".join(str(written).split()[:MAX_WORDS]), _MAX_CHARACTERS)
