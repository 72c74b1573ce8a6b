"""Rates with their uncertainty, for claims that come in answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import correlation

Z_95 = 1.959963984540054
# The intra-class correlation assumed where the answers themselves cannot tell it: fewer than two
# answers, or all alike. With five claims an answer it widens an interval by a third.
ASSUMED_ICC = 0.2


@dataclass(frozen=True, slots=True)
class AnswerSums:
    """Sums over verified answers; m = decided claims, x = unfaithful claims, w = sample weight.

    They suffice for a weighted ratio and its variance, so a database can add them up.
    """

    answers: int
    claims: int
    wm: float
    wx: float
    wwm: float
    wwxx: float
    wwxm: float
    wwmm: float


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of claims with its 95 % interval; all three are None where no claim was decided."""

    value: float | None
    low: float | None
    high: float | None


def claim_rate(sums: AnswerSums) -> Rate:
    """The weighted share of unfaithful claims, and an interval that knows answers are clusters.

    The claims of one answer are correlated, so the effective number of claims is Kish's size
    divided by the design effect, which is estimated by the linearised variance of a ratio
    (Cochran, Sampling Techniques, section 6.3). The interval is Wilson's on that number.
    """
    if sums.wm <= 0:
        return Rate(None, None, None)
    rate = sums.wx / sums.wm
    size = sums.wm**2 / sums.wwm
    return _rate(rate, size / design_effect(sums, rate, size))


def part_rate(sums: AnswerSums, wx: float) -> Rate:
    """The weighted share of decided claims of one kind, the contradicted ones say.

    `wx` is their weighted number. Their design effect is taken to be that of all unfaithful
    claims: how they are spread over the answers, sums of unfaithful claims do not tell.
    """
    whole = claim_rate(sums)
    if whole.value is None:
        return whole
    size = sums.wm**2 / sums.wwm
    return _rate(wx / sums.wm, size / design_effect(sums, whole.value, size))


def undecided_rate(sums: AnswerSums, undecided: int, wu: float, wwu: float) -> Rate:
    """The weighted share of undecided claims among these and the decided ones.

    `wu` is their weighted number, `wwu` the same by the square of the weight. How they are spread
    over the answers is not known, so their intra-class correlation is the assumed one.
    """
    wm = sums.wm + wu
    if wm <= 0:
        return Rate(None, None, None)
    each = (sums.claims + undecided) / max(sums.answers, 1)
    effect = 1 + (max(each, 1.0) - 1) * ASSUMED_ICC
    return _rate(wu / wm, wm**2 / (sums.wwm + wwu) / effect)


def design_effect(sums: AnswerSums, rate: float, size: float) -> float:
    """How many times more the rate varies than if each claim were an answer of its own; ≥ 1."""
    binomial = rate * (1 - rate) / size
    if sums.answers < 2 or binomial <= 0:
        return 1 + (max(sums.claims / max(sums.answers, 1), 1) - 1) * ASSUMED_ICC
    residual = sums.wwxx - 2 * rate * sums.wwxm + rate**2 * sums.wwmm
    between = sums.answers / (sums.answers - 1) * max(residual, 0.0) / sums.wm**2
    return max(between / binomial, 1.0)


def wilson(rate: float, size: float) -> tuple[float, float]:
    """Wilson's 95 % score interval for a share seen in `size` (effective) independent trials."""
    spread = Z_95**2 / size
    centre = (rate + spread / 2) / (1 + spread)
    half = Z_95 / (1 + spread) * math.sqrt(rate * (1 - rate) / size + spread / (4 * size))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _rate(rate: float, size: float) -> Rate:
    """With the interval for so many effective claims; sums may round a share above 1."""
    share = min(max(rate, 0.0), 1.0)
    return Rate(share, *wilson(share, size))


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's rho of two measures of the same things, ties ranked alike, in [-1, 1].

    None where there are fewer than three things, or where one measure gives all the same.
    """
    sides = [_ranks(side) for side in zip(*pairs, strict=True)]
    if len(pairs) < 3 or any(len(set(ranks)) == 1 for ranks in sides):
        return None
    return correlation(*sides)


def _ranks(values: Sequence[float]) -> list[float]:
    """From 1 on; equal values share the mean of their places."""
    ordered = sorted(values)
    first = {value: at for at, value in reversed(list(enumerate(ordered, start=1)))}
    last = {value: at for at, value in enumerate(ordered, start=1)}
    return [(first[value] + last[value]) / 2 for value in values]
