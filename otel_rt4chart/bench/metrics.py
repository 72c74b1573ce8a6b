"""Agreement between verdicts and labels: answers, character spans, three-way counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer: what people said, what the judge said.

    `gold_spans` is None where people marked the answer as a whole only; spans are then not scored.
    """

    task: str
    dataset: str
    is_hallucinated: bool
    gold_label: AnswerLabel | None
    predicted: AnswerLabel
    gold_spans: tuple[AnswerRange, ...] | None
    predicted_spans: tuple[AnswerRange, ...]
    claims: int


@dataclass(frozen=True, slots=True)
class Counts:
    """True and false positives and negatives, of answers or of characters; positive: unfaithful."""

    true_positive: int = 0
    false_positive: int = 0
    true_negative: int = 0
    false_negative: int = 0

    @property
    def precision(self) -> float | None:
        """None where nothing was flagged."""
        return _ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float | None:
        """None where nothing is unfaithful."""
        return _ratio(self.true_positive, self.true_positive + self.false_negative)

    @property
    def f1(self) -> float | None:
        """None where nothing was flagged and nothing is unfaithful."""
        wrong = self.false_positive + self.false_negative
        return _ratio(2 * self.true_positive, 2 * self.true_positive + wrong)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of both classes' recalls; None where one of them is not there."""
        recall = self.recall
        specificity = _ratio(self.true_negative, self.true_negative + self.false_positive)
        return None if recall is None or specificity is None else (recall + specificity) / 2


@dataclass(frozen=True, slots=True)
class Scores:
    """One line of the table: `flag_all` is what flagging every answer would score."""

    name: str
    answers: int
    hallucinated: int
    undecided: int
    claims: int
    answer: Counts
    flag_all: Counts
    span: Counts
    three_way: Mapping[tuple[AnswerLabel, AnswerLabel], int] = field(default_factory=dict)


def score(name: str, outcomes: Sequence[Outcome]) -> Scores:
    """The figures over some outcomes.

    An answer that could not be decided, or that has no claims, counts as not flagged.
    """
    positives = sum(outcome.is_hallucinated for outcome in outcomes)
    return Scores(
        name=name,
        answers=len(outcomes),
        hallucinated=positives,
        undecided=sum(outcome.predicted is AnswerLabel.UNDECIDED for outcome in outcomes),
        claims=sum(outcome.claims for outcome in outcomes),
        answer=_answer_counts(outcomes),
        flag_all=Counts(true_positive=positives, false_positive=len(outcomes) - positives),
        span=_span_counts(outcomes),
        three_way=Counter(
            (outcome.gold_label, outcome.predicted)
            for outcome in outcomes
            if outcome.gold_label is not None
        ),
    )


def score_by(key: Callable[[Outcome], str], outcomes: Iterable[Outcome]) -> tuple[Scores, ...]:
    """One line for each value of a key, by name."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(key(outcome), []).append(outcome)
    return tuple(score(name, groups[name]) for name in sorted(groups))


def _answer_counts(outcomes: Iterable[Outcome]) -> Counts:
    found = Counter(
        (outcome.is_hallucinated, outcome.predicted.is_unfaithful) for outcome in outcomes
    )
    return Counts(found[True, True], found[False, True], found[False, False], found[True, False])


def _span_counts(outcomes: Iterable[Outcome]) -> Counts:
    """Characters, each counted once however many spans cover it; true negatives are not counted."""
    hit = false = missed = 0
    for outcome in outcomes:
        if outcome.gold_spans is None:
            continue
        gold, predicted = _characters(outcome.gold_spans), _characters(outcome.predicted_spans)
        hit += len(gold & predicted)
        false += len(predicted - gold)
        missed += len(gold - predicted)
    return Counts(true_positive=hit, false_positive=false, false_negative=missed)


def _characters(spans: Iterable[AnswerRange]) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
