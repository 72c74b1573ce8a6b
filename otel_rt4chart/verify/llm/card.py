"""The reply form of the grounding-check card: claims with a copied phrase instead of numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from otel_rt4chart.core.text import find_phrase, one_line
from otel_rt4chart.verify.core.model import Label, Sentence
from otel_rt4chart.verify.decompose.grounding import claim_signal, grounding_problem
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.llm.conversation import LABEL_ODDS
from otel_rt4chart.verify.llm.replies import label_of, normalized_phrase
from otel_rt4chart.verify.llm.split_task import MAX_ENTRIES, SplitTask

MAX_WORDS = 40  # of a decision basis, which is one sentence
_MAX_CHARACTERS = 400
_ACROSS = 4  # sentences that one phrase may be copied across
_LIKELIEST = 3  # sentences of the answer that are looked at for a claim
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
    if len(items) > MAX_ENTRIES:  # each is compared with the answer and with the passages
        return []
    linker, shown = Linker(context), _shown_texts(context)
    # A card may be of the whole answer: claims of sentences that were not asked for are left out.
    words = {unit: content(split.texts_of(unit)[0]).keys() for unit in range(split.units)}
    before = [content(sentence.text).keys() for sentence in split.before]
    places = {one.index: number for number, one in enumerate(context, start=1)}
    found: list[Item] = []
    for item in items:
        claim = item.get("text")
        if not isinstance(claim, str) or not claim.strip():
            continue
        numbers = _containing(item.get("evidence_phrase"), shown)
        if not numbers and label_of(item.get("label")) is Label.CONTRADICTED:
            links = linker.candidates(claim, limit=1)
            numbers = [places[link.sentence] for link in links]
        unit = _own_unit(claim, words, split, question)
        own = _shared(claim, words[unit])
        if unit not in units or any(_shared(claim, earlier) > own for earlier in before):
            continue
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


def _own_unit(
    claim: str, words: Mapping[int, Collection[str]], split: SplitTask, question: str
) -> int:
    """The answer's sentence that says the claim: of those most like it, one that grounds it."""
    likeliest = sorted(words, key=lambda unit: -_shared(claim, words[unit]))[:_LIKELIEST]

    def is_grounded(unit: int) -> bool:
        sentence, *before = split.texts_of(unit)
        return grounding_problem(claim, sentence, [*before, question]) is None

    return next(filter(is_grounded, likeliest), likeliest[0])


def _shared(claim: str, words: Collection[str]) -> float:
    """The weight of the claim's words that are among these."""
    own = content(claim)
    return sum(own[word] for word in own.keys() & words)


class _Run(NamedTuple):
    """Consecutive sentences of one passage, by number, as a phrase may be copied from them."""

    numbers: list[int]
    texts: tuple[str, str]


def _shown_texts(context: Sequence[Sentence]) -> list[_Run]:
    """Single sentences first, then those that a phrase may go across."""
    found = []
    for length in range(1, _ACROSS + 1):
        for at in range(len(context) - length + 1):
            some = context[at : at + length]
            if len({one.passage_id for one in some}) == 1:
                written = normalized_phrase(" ".join(one.text for one in some))
                read = normalized_phrase(" ".join(one.reading for one in some))
                found.append(_Run(list(range(at + 1, at + length + 1)), (written, read)))
    return found


def _containing(phrase: object, shown: Sequence[_Run]) -> list[int]:
    """The numbers of the sentences that the phrase was copied from; none where it is in none."""
    sought = normalized_phrase(phrase) if isinstance(phrase, str) else ""
    return next((run.numbers for run in shown if _says(run, sought)), [])


def _says(run: _Run, sought: str) -> bool:
    return any(find_phrase(text, sought) >= 0 for text in run.texts)


def decision_basis(text: str) -> str:
    """The card's one sentence on what decided, at most 40 words; empty where it has none."""
    if (match := _BASIS.search(text)) is None:
        return ""
    try:
        written = json.loads(match.group(1))
    except ValueError:
        return ""
    return one_line(" ".join(str(written).split()[:MAX_WORDS]), _MAX_CHARACTERS)
