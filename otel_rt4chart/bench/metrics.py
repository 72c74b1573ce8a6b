"""Metrics of agreement between verdicts and labels: answers, character spans, three-way labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange


@dataclass(frozen=True, slots=True)
class LabelledOutcome:
    """The labels of one answer, by annotators and by the judge.

    `gold_spans` is None if annotators only labelled the answer as a whole; spans are then ignored.
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
class ConfusionCounts:
    """A confusion matrix of answers or of characters; positive means unfaithful."""

    true_positive: int = 0
    false_positive: int = 0
    true_negative: int = 0
    false_negative: int = 0

    @property
    def precision(self) -> float | None:
        """None if nothing was flagged."""
        return _ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float | None:
        """None if nothing is unfaithful."""
        return _ratio(self.true_positive, self.true_positive + self.false_negative)

    @property
    def f1(self) -> float | None:
        """None if nothing was flagged and nothing is unfaithful."""
        wrong = self.false_positive + self.false_negative
        return _ratio(2 * self.true_positive, 2 * self.true_positive + wrong)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean recall of both classes; None if a class is empty."""
        recall = self.recall
        specificity = _ratio(self.true_negative, self.true_negative + self.false_positive)
        return None if recall is None or specificity is None else (recall + specificity) / 2


@dataclass(frozen=True, slots=True)
class BenchScores:
    """One row of the table; `flag_all` is the score of flagging every answer."""

    name: str
    answers: int
    hallucinated: int
    undecided: int
    claims: int
    answer: ConfusionCounts
    flag_all: ConfusionCounts
    span: ConfusionCounts
    three_way: Mapping[tuple[AnswerLabel, AnswerLabel], int] = field(default_factory=dict)


def score(name: str, outcomes: Sequence[LabelledOutcome]) -> BenchScores:
    """Compute the metrics over outcomes.

    An undecided answer, or one without claims, counts as not flagged.
    """
    positives = sum(outcome.is_hallucinated for outcome in outcomes)
    return BenchScores(
        name=name,
        answers=len(outcomes),
        hallucinated=positives,
        undecided=sum(outcome.predicted is AnswerLabel.UNDECIDED for outcome in outcomes),
        claims=sum(outcome.claims for outcome in outcomes),
        answer=_answer_counts(outcomes),
        flag_all=ConfusionCounts(true_positive=positives, false_positive=len(outcomes) - positives),
        span=_span_counts(outcomes),
        three_way=Counter(
            (outcome.gold_label, outcome.predicted)
            for outcome in outcomes
            if outcome.gold_label is not None
        ),
    )


def score_by(
    key: Callable[[LabelledOutcome], str], outcomes: Iterable[LabelledOutcome]
) -> tuple[BenchScores, ...]:
    """Metrics for each value of a key, sorted by name."""
    groups: dict[str, list[LabelledOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(key(outcome), []).append(outcome)
    return tuple(score(name, groups[name]) for name in sorted(groups))


def _answer_counts(outcomes: Iterable[LabelledOutcome]) -> ConfusionCounts:
    found = Counter(
        (outcome.is_hallucinated, outcome.predicted.is_unfaithful) for outcome in outcomes
    )
    return ConfusionCounts(
        found[True, True], found[False, True], found[False, False], found[True, False]
    )


def _span_counts(outcomes: Iterable[LabelledOutcome]) -> ConfusionCounts:
    """Counts of characters, each once even if several spans cover it; without true negatives."""
    hit = false = missed = 0
    for outcome in outcomes:
        if outcome.gold_spans is None:
            continue
        gold, predicted = (
            span_characters(outcome.gold_spans),
            span_characters(outcome.predicted_spans),
        )
        hit += len(gold & predicted)
        false += len(predicted - gold)
        missed += len(gold - predicted)
    return ConfusionCounts(true_positive=hit, false_positive=false, false_negative=missed)


def shared_characters(one: AnswerRange, other: AnswerRange) -> int:
    """How many characters two ranges share; 0 unless they overlap."""
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def span_characters(spans: Iterable[AnswerRange]) -> set[int]:
    """The positions that any of these ranges covers, each once."""
    return {at for start, end in spans for at in range(start, end)}


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
