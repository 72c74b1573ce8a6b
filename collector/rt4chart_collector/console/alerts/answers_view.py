"""Faulty answers since a rise beside answers from before it, as an alert's page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.core.text import clip
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.answers.answer_side import AnswerSide, answer_side
from rt4chart_collector.incident.asked_before import AskedBefore, BeforeAndAfter
from rt4chart_collector.incident.wording import asked_words, pair_words
from rt4chart_collector.store.answers.question_pairs import PairedAnswer

QUESTION = 400


@dataclass(frozen=True, slots=True)
class ComparedAnswers:
    """A faulty answer since the rise beside one from before it, None where there is none.

    `like` is the question of the latter where it has other words.
    """

    question: str
    like: str
    before: AnswerSide | None
    after: AnswerSide
    counts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class AnswersView:
    """What was searched and found, in words, and the answers."""

    words: str
    pairs: tuple[ComparedAnswers, ...]


def answers_view(asked: AskedBefore, measure: Measure) -> AnswersView:
    """The answers, with their texts marked."""
    pairs = tuple(_compared(pair, measure) for pair in asked.pairs)
    return AnswersView(asked_words(asked, measure), pairs)


def _compared(pair: BeforeAndAfter, measure: Measure) -> ComparedAnswers:
    return ComparedAnswers(
        question=_question(pair.after),
        like=_question(pair.before) if pair.before and not pair.is_same else "",
        before=answer_side(pair.before, by_judge=False) if pair.before else None,
        after=answer_side(pair.after, by_judge=False),
        counts=pair_words(pair, measure),
    )


def _question(answer: PairedAnswer) -> str:
    return clip(" ".join(answer.verdict.question[: QUESTION * 4].split()), QUESTION)
