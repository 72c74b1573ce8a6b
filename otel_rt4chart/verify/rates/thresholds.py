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
from otel_rt4chart.verify.rates.distributions import binomial_at_most
from otel_rt4chart.verify.rates.labels import LabelledClaim

# Candidates for a threshold, from the strictest on.
GRID = tuple(at / 50 for at in range(50, -1, -1))
# Where the order begins: at so many times the labels that could prove the share without an error.
STARTS = (1, 2, 4)
# The shares of the largest possible bet that the test of unequal weights is a mixture of.
BETS = (0.1, 0.3, 0.5, 0.7, 0.9)
# What fewer labels say of a threshold's errors is no guide to how many more are needed.
FEWEST_LABELS = 10
# No more labels than this are ever suggested.
MOST_LABELS = 100_000


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
    if not (0 < error < 1 and 0 < confidence < 1):
        raise InputError(f"expected shares between 0 and 1, got {error} and {confidence}")
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


def flagged_verdicts(labels: Iterable[LabelledClaim]) -> list[ScoredVerdict]:
    """The claims by their probability of being wrong; an error where people call them right.

    If people disagree evenly, it is an error: who acts upon it should not.
    """
    return [ScoredVerdict(one.score, one.wrong <= 0.5, one.answer, one.expansion) for one in labels]


def entailed_verdicts(labels: Iterable[LabelledClaim]) -> list[ScoredVerdict]:
    """The claims by their probability of being right; an error where people call them wrong."""
    return [
        ScoredVerdict(1 - one.score, one.wrong >= 0.5, one.answer, one.expansion) for one in labels
    ]


def p_value(verdicts: Sequence[ScoredVerdict], error: float) -> float:
    """A p-value of the hypothesis that more than this share of such verdicts is wrong.

    Exact where every label stands for as many claims and for an answer of its own (binomial). Else
    by betting: `Π (1 + b·(error - is_error)·weight)` is at most 1 on average under the hypothesis,
    so its inverse is a p-value (Waudby-Smith and Ramdas 2024, arXiv 2010.09686). A mixture of
    constant bets b does not depend on the order of the labels.
    """
    if _are_alike(verdicts):
        return binomial_at_most(sum(one.is_error for one in verdicts), len(verdicts), error)
    return _inverse_mean(_log_capital(verdicts, error))


def _are_alike(verdicts: Sequence[ScoredVerdict]) -> bool:
    one_each = len({one.answer for one in verdicts}) == len(verdicts)
    return one_each and len({one.expansion for one in verdicts}) <= 1


def _log_capital(verdicts: Sequence[ScoredVerdict], error: float) -> list[float]:
    """What each bet has made of 1, as a logarithm; the claims of one answer are one bet."""
    gains: dict[str, float] = {}
    stakes: dict[str, float] = {}
    for one in verdicts:
        gains[one.answer] = gains.get(one.answer, 0.0) + one.expansion * (error - one.is_error)
        stakes[one.answer] = stakes.get(one.answer, 0.0) + one.expansion
    most_lost = max(stakes.values()) * (1 - error)
    return [sum(math.log1p(bet * gain / most_lost) for gain in gains.values()) for bet in BETS]


def _inverse_mean(logs: Sequence[float]) -> float:
    """1 / the mean capital, at most 1."""
    highest = max(logs)
    if highest <= 0:
        return 1.0
    return min(1.0, math.exp(-highest) * len(logs) / sum(math.exp(one - highest) for one in logs))


class _Test:
    """The hypothesis of one threshold; its p-value is computed when it is asked for."""

    def __init__(self, threshold: float, above: Sequence[ScoredVerdict], error: float) -> None:
        self.threshold, self.above, self.error = threshold, above, error
        self.errors = sum(one.is_error for one in above)

    @cached_property
    def p_value(self) -> float:
        """The p-value of "more than the share is wrong"."""
        return p_value(self.above, self.error)

    def labels_for(self, level: float) -> int | None:
        """How many labels above the threshold would prove it, if they are wrong as often."""
        if self.errors >= self.error * len(self.above):
            return None
        logs = None if _are_alike(self.above) else _log_capital(self.above, self.error)
        low, high = len(self.above), MOST_LABELS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._p_value_of(middle, logs) <= level else (middle, high)
        return high if high < MOST_LABELS else None

    def _p_value_of(self, labels: int, logs: Sequence[float] | None) -> float:
        factor = labels / len(self.above)
        if logs is None:
            return binomial_at_most(math.floor(self.errors * factor), labels, self.error)
        return _inverse_mean([factor * one for one in logs])


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
