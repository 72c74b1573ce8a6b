"""Thresholds of a score above which verdicts are wrong at most so often, with a stated confidence.

Learn then test (Angelopoulos, Bates, Candès, Jordan and Lei 2021, arXiv 2110.01052): every
threshold is a hypothesis "above it, verdicts are wrong more than α of the time", and only a
threshold whose hypothesis is rejected at level δ is used. They are tested in a fixed order, from
the strictest on, until one is not rejected, so no correction for many tests is needed. The
strictest one has the fewest labels and may fail by bad luck, so the order is begun at several
places, which share δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import design_effect, effective_size
from otel_rt4chart.verify.rates.distributions import beta_cdf
from otel_rt4chart.verify.rates.labels import TrustedLabel, share_sums

# Candidates for a threshold, from the strictest on.
GRID = tuple(at / 50 for at in range(50, -1, -1))
# Where the order begins: at so many times the labels that could prove the share without an error.
STARTS = (1, 4, 16)
# What fewer labels say of a threshold's errors is no guide to how many more are needed.
FEWEST_LABELS = 10
# No more labels than this are ever suggested.
MOST_LABELS = 100_000
# A smaller share, or a surer one, takes more labels than anybody gives.
LEAST_SHARE = 0.001


class ScoredVerdict(NamedTuple):
    """A verdict that was checked: it is acted upon if its score is at least the threshold.

    For `flagged`, the score is the probability that the claim is wrong, and the verdict is an error
    where the claim is right. For `entailed`, both are turned. For a cascade, the score is the
    confidence. `expansion` is 1 / (probability of the draw · sampling rate of the answer).
    """

    score: float
    is_error: bool
    answer: str
    expansion: float = 1.0


@dataclass(frozen=True, slots=True)
class ThresholdChoice:
    """The lowest threshold that was proved, or None.

    `labels` were above it, `errors` of them wrong. Without a threshold, they are those of the
    candidate that takes the fewest labels: `more_labels` drawn like those at hand, if they are
    wrong as often. It is None where every candidate is wrong too often.
    """

    threshold: float | None
    labels: int
    errors: int
    more_labels: int | None = None


def choose_threshold(
    verdicts: Iterable[ScoredVerdict], *, error: float, confidence: float = 0.9
) -> ThresholdChoice:
    """The lowest threshold above which at most this share of verdicts is wrong.

    If there is no such threshold, one is returned with a probability of at most 1 - `confidence`.
    """
    if not all(LEAST_SHARE <= share <= 1 - LEAST_SHARE for share in (error, confidence)):
        raise InputError(
            f"expected shares from {LEAST_SHARE} to {1 - LEAST_SHARE}, got {error} and {confidence}"
        )
    known = list(verdicts)
    level = (1 - confidence) / len(STARTS)
    least = math.ceil(math.log(level) / math.log1p(-error))
    tests = [_Test(at, [one for one in known if one.score >= at], error) for at in GRID]
    proved: list[_Test] = []
    for start in STARTS:
        # Where to begin depends on scores alone, which say nothing of the errors.
        begun = (test for test in tests if len(test.above) >= start * least)
        proved += takewhile(lambda test: test.p_value <= level, begun)
    if proved:
        lowest = min(proved, key=lambda test: test.threshold)
        return ThresholdChoice(lowest.threshold, len(lowest.above), lowest.errors)
    return _unproved(tests, len(known), level)


def flagged_verdicts(labels: Iterable[TrustedLabel]) -> list[ScoredVerdict]:
    """The claims by their probability of being wrong; an error where people call them right.

    If people disagree evenly, it is an error: who acts upon it should not.
    """
    return [ScoredVerdict(one.score, one.wrong <= 0.5, one.answer, one.expansion) for one in labels]


def entailed_verdicts(labels: Iterable[TrustedLabel]) -> list[ScoredVerdict]:
    """The claims by their probability of being right; an error where people call them wrong."""
    return [
        ScoredVerdict(1 - one.score, one.wrong >= 0.5, one.answer, one.expansion) for one in labels
    ]


def p_value(errors: float, labels: float, error: float) -> float:
    """A p-value of the hypothesis that more than this share of verdicts is wrong (binomial).

    It is the chance of at most so many errors in so many labels, which need not be whole numbers.
    """
    return 1.0 if errors >= labels else 1 - beta_cdf(error, errors + 1, labels - errors)


def effective_counts(verdicts: Sequence[ScoredVerdict]) -> tuple[float, float]:
    """Errors and labels as they are, where each stands for as many claims and its own answer.

    Else the effective numbers (Korn and Graubard 1998, Survey Methodology 24): Kish's size and the
    correlation within answers make them smaller.
    """
    errors, labels = sum(one.is_error for one in verdicts), len(verdicts)
    answers = len({one.answer for one in verdicts})
    if answers == labels and len({one.expansion for one in verdicts}) <= 1:
        return float(errors), float(labels)
    sums = share_sums((one.answer, one.expansion, float(one.is_error)) for one in verdicts)
    share, size = sums.wx / sums.wm, effective_size(sums)
    size /= design_effect(sums, share, size)
    return share * size, size


class _Test:
    """The hypothesis of one threshold; its p-value is computed when it is asked for."""

    def __init__(self, threshold: float, above: Sequence[ScoredVerdict], error: float) -> None:
        self.threshold, self.above, self.error = threshold, above, error
        self.errors = sum(one.is_error for one in above)

    @cached_property
    def p_value(self) -> float:
        """The p-value of "more than the share is wrong"."""
        return p_value(*self._effective, self.error)

    @cached_property
    def _effective(self) -> tuple[float, float]:
        return effective_counts(self.above)

    def labels_for(self, level: float) -> int | None:
        """How many labels above the threshold would prove it, if they are wrong as often."""
        errors, size = self._effective
        if errors >= self.error * size:
            return None
        low, high = len(self.above), MOST_LABELS
        while high - low > 1:
            middle = (low + high) // 2
            factor = middle / len(self.above)
            if p_value(errors * factor, size * factor, self.error) <= level:
                high = middle
            else:
                low = middle
        return high if high < MOST_LABELS else None


def _unproved(tests: Sequence[_Test], labels: int, level: float) -> ThresholdChoice:
    """Nothing was proved: how many labels the most promising candidate lacks."""
    if not labels:
        return ThresholdChoice(None, 0, 0, math.ceil(math.log(level) / math.log1p(-tests[0].error)))
    wanted: dict[int, tuple[int, _Test]] = {}
    for test in tests:
        if len(test.above) < min(FEWEST_LABELS, labels):
            continue
        # Thresholds with the same labels above them are one candidate.
        if len(test.above) not in wanted and (above := test.labels_for(level)) is not None:
            in_all = math.ceil(above * labels / len(test.above))
            wanted[len(test.above)] = (in_all - labels, test)
    if not wanted:
        lowest = tests[-1]
        return ThresholdChoice(None, len(lowest.above), lowest.errors)
    more, best = min(wanted.values(), key=lambda found: found[0])
    return ThresholdChoice(None, len(best.above), best.errors, max(more, 1))
