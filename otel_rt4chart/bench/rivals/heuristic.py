"""The path without a model of ai-evaluation, an evaluation SDK, written from its description.

None of its code is here. What is described, and followed: claims are pieces between sentence marks
and spaces, of three words or more; openers such as "Sure" and "Here is", opinions and questions are
dropped, so is what repeats the question. A claim is compared with each passage by the share of its
content words in it; a negation on one side alone, or one or two unknown numbers, contradict. The
first passage that contradicts outweighs all that entail. Not described, and ours: the words that
count for nothing (the package's own list), the words that negate, the confidence of what is
entailed (the share) or neutral (the rest of it). A neutral claim is baseless here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from otel_rt4chart.bench.rivals.verdict import HolisticVerdict
from otel_rt4chart.verify.core.evidence import and_join
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Exchange, Label
from otel_rt4chart.verify.language.tokens import STOPWORDS

ENTAILED_FROM, NEAR = 0.65, 0.5  # shares of a claim's content words
NEGATED, MISNUMBERED = 0.6, 0.55  # confidence of a contradiction
NEUTRAL = 0.4  # what a neutral claim counts in the faithfulness
ECHO = 0.8  # of a claim's words stand in the question
FEWEST_WORDS, MOST_NUMBERS = 3, 2

_BOUNDARY = re.compile(r"(?<=[.!?])\s+")
_DROPPED = re.compile(r"(?i)^(?:sure|here(?:\s+is|\s+are|['’]s)|i\s+think)\b|\?$")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATIONS = frozenset(["no", "not", "never", "none", "neither", "nor", "nothing", "nobody"])


class Entailment(NamedTuple):
    """The label of a claim and its confidence."""

    label: Label
    confidence: float


class Heuristic:
    """The heuristic as a judge of whole answers; it calls no model."""

    id = "heuristic/ai-evaluation/1"

    def verify(self, exchange: Exchange) -> HolisticVerdict:
        """An answer is unfaithful unless all claims are entailed; without claims it is, too."""
        found = read_claims(exchange)
        labels = [one.entailment.label for one in found]
        joint = and_join(labels) if labels else AnswerLabel.BASELESS
        return HolisticVerdict(joint, 1.0 - faithfulness(labels))


class ReadClaim(NamedTuple):
    """A piece of the answer with what the passages say of it."""

    range: AnswerRange
    entailment: Entailment


def read_claims(exchange: Exchange) -> list[ReadClaim]:
    """Every claim of the answer, compared with each passage."""
    contexts = [passage.text for passage in exchange.passages]
    return [
        ReadClaim(where, best(exchange.answer[where.start : where.end], contexts))
        for where in claims_of(exchange.answer, exchange.question)
    ]


def claims_of(answer: str, question: str = "") -> Iterator[AnswerRange]:
    """The pieces of the answer that pass the filters."""
    asked = _words(question)
    for start, end in _pieces(answer):
        text = answer[start:end]
        words = _words(text)
        is_echo = bool(asked) and len(words & asked) >= ECHO * len(words)
        if len(text.split()) >= FEWEST_WORDS and not _DROPPED.search(text) and not is_echo:
            yield AnswerRange(start, end)


def check_entailment(claim: str, context: str) -> Entailment:
    """One claim beside one passage."""
    said, known = _words(claim), _words(context)
    telling = said - STOPWORDS
    share = len(telling & known) / len(telling) if telling else 0.0
    if share > NEAR and bool(said & _NEGATIONS) != bool(known & _NEGATIONS):
        return Entailment(Label.CONTRADICTED, NEGATED)
    unknown = set(_NUMBER.findall(claim)) - set(_NUMBER.findall(context))
    if share > NEAR and 1 <= len(unknown) <= MOST_NUMBERS:
        return Entailment(Label.CONTRADICTED, MISNUMBERED)
    if share >= ENTAILED_FROM:
        return Entailment(Label.ENTAILED, share)
    return Entailment(Label.BASELESS, 1.0 - share)


def best(claim: str, contexts: Sequence[str]) -> Entailment:
    """The first contradiction, else the surest entailment, else the nearest neutral."""
    found = [check_entailment(claim, context) for context in contexts]
    for one in found:
        if one.label is Label.CONTRADICTED:
            return one
    entailed = [one for one in found if one.label is Label.ENTAILED]
    if entailed:
        return max(entailed, key=lambda one: one.confidence)
    return min(found, key=lambda one: one.confidence, default=Entailment(Label.BASELESS, 1.0))


def faithfulness(labels: Sequence[Label]) -> float:
    """What is entailed counts whole, what is neutral in part; 0 without claims."""
    worth = {Label.ENTAILED: 1.0, Label.BASELESS: NEUTRAL}
    return sum(worth.get(label, 0.0) for label in labels) / len(labels) if labels else 0.0


def _pieces(answer: str) -> Iterator[tuple[int, int]]:
    """Between sentence marks, without the spaces around."""
    starts = [0, *(mark.end() for mark in _BOUNDARY.finditer(answer))]
    for start, end in zip(starts, [*starts[1:], len(answer)], strict=True):
        piece = answer[start:end]
        left = len(piece) - len(piece.lstrip())
        if piece.strip():
            yield start + left, start + len(piece.rstrip())


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
