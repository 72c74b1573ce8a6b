"""Two runs over the same answers: McNemar's exact test, and intervals of the differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from otel_rt4chart.bench.metrics import ConfusionCounts, span_characters
from otel_rt4chart.bench.records import AnswerRecord, RowKey
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import AnswerRange

RESAMPLES, SEED = 1_000, 42


class ComparedAnswer(NamedTuple):
    """What is known of one answer in one run; the last three count characters of its spans.

    `group` is the document: its answers are drawn together. `gold` are the marked characters, None
    where the spans are not part of the metrics, be it for the labels or for the judge.
    """

    group: str
    is_hallucinated: bool
    is_flagged: bool
    gold: frozenset[int] | None = None
    span_hit: int = 0
    span_false: int = 0
    span_missed: int = 0

    def without_spans(self) -> ComparedAnswer:
        """The same answer, compared as a whole alone."""
        return ComparedAnswer(self.group, self.is_hallucinated, self.is_flagged)


def score_answer(
    group: str, is_hallucinated: bool, gold: Sequence[AnswerRange] | None, record: AnswerRecord
) -> ComparedAnswer:
    """What counts of one answer; `gold` is None where its spans are not part of the metrics."""
    answer = ComparedAnswer(group, is_hallucinated, record.label.is_unfaithful)
    if gold is None or record.is_holistic:
        return answer
    said = span_characters(claim.range for claim in record.unfaithful)
    marked = span_characters(gold)
    hit, false, missed = len(marked & said), len(said - marked), len(marked - said)
    found = frozenset(marked)
    return answer._replace(gold=found, span_hit=hit, span_false=false, span_missed=missed)


class MetricDifference(NamedTuple):
    """A metric in both runs, b minus a, and its 95% interval; None where it is not defined."""

    metric: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Runs a and b on the same answers.

    `only_a` answers are right in a alone; `p_value` is McNemar's for as uneven a split of these and
    `only_b` by chance, two-sided. `unshared` answers are in one run alone and are left out.
    """

    answers: int
    groups: int
    unshared: int
    only_a: int
    only_b: int
    p_value: float
    differences: tuple[MetricDifference, ...]


def compare_runs(
    a: Mapping[RowKey, ComparedAnswer], b: Mapping[RowKey, ComparedAnswer]
) -> PairedComparison:
    """Compare two runs by the key of each answer; InputError where they share none.

    Spans count where both runs have them, and must then be the same ones.
    """
    shared = sorted(a.keys() & b.keys())
    if not shared:
        raise InputError("expected two runs over the same answers, got no answer that both have")
    pairs = [_comparable(key, a[key], b[key]) for key in shared]
    right = [(_is_right(ours), _is_right(theirs)) for ours, theirs in pairs]
    only_a, only_b = right.count((True, False)), right.count((False, True))
    groups: dict[str, list[list[int]]] = {}
    for ours, theirs in pairs:
        groups.setdefault(ours.group, []).append(_counts(ours) + _counts(theirs))
    sums = [_sum(rows) for rows in groups.values()]
    return PairedComparison(
        len(shared),
        len(groups),
        len(a.keys() ^ b.keys()),
        only_a,
        only_b,
        mcnemar(only_a, only_b),
        _differences(sums),
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided p of McNemar's exact test: the binomial one on the answers that differ."""
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / (1 << n))


def _comparable(
    key: RowKey, a: ComparedAnswer, b: ComparedAnswer
) -> tuple[ComparedAnswer, ComparedAnswer]:
    """An answer of both runs, with spans where both have them."""
    if a.is_hallucinated != b.is_hallucinated:
        raise InputError(f"the runs have different labels of the answer {key.id}")
    if a.gold is None or b.gold is None:
        return a.without_spans(), b.without_spans()
    if a.gold != b.gold:
        raise InputError(f"the runs have different marked spans of the answer {key.id}")
    return a, b


def _is_right(answer: ComparedAnswer) -> bool:
    return answer.is_flagged == answer.is_hallucinated


def _counts(answer: ComparedAnswer) -> list[int]:
    """True and false positives, true and false negatives; then the same of span characters."""
    wrong, flagged = answer.is_hallucinated, answer.is_flagged
    cells = [wrong and flagged, flagged and not wrong, not (wrong or flagged)]
    return [
        *map(int, [*cells, wrong and not flagged]),
        *(answer.span_hit, answer.span_false, answer.span_missed),
    ]


def _sum(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _metrics(counts: Sequence[int]) -> dict[str, float | None]:
    answers = ConfusionCounts(*counts[:4])
    hit, false, missed = counts[4:]
    spans = ConfusionCounts(hit, false, false_negative=missed)
    return {
        "precision": answers.precision,
        "recall": answers.recall,
        "F1": answers.f1,
        "balanced accuracy": answers.balanced_accuracy,
        "span F1": spans.f1,
    }


def _differences(groups: Sequence[Sequence[int]]) -> tuple[MetricDifference, ...]:
    """The difference of each metric; documents are drawn with replacement, always the same ones."""
    chance = Random(SEED)  # noqa: S311 - a bootstrap, not a secret
    drawn = [_split(_sum(chance.choices(groups, k=len(groups)))) for _ in range(RESAMPLES)]
    whole_a, whole_b = _split(_sum(groups))
    found = []
    for name in whole_a:
        low, high = _interval(_minus(b[name], a[name]) for a, b in drawn)
        a, b = whole_a[name], whole_b[name]
        found.append(MetricDifference(name, a, b, _minus(b, a), low, high))
    return tuple(found)


def _split(counts: Sequence[int]) -> tuple[dict[str, float | None], dict[str, float | None]]:
    half = len(counts) // 2
    return _metrics(counts[:half]), _metrics(counts[half:])


def _minus(b: float | None, a: float | None) -> float | None:
    return None if a is None or b is None else b - a


def _interval(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """The middle 95%; none where the metric is not defined in half of the samples."""
    known = sorted(value for value in values if value is not None)
    if len(known) < RESAMPLES / 2:
        return None, None
    last = len(known) - 1
    return known[round(0.025 * last)], known[round(0.975 * last)]
