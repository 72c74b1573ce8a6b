"""Rates of claims with confidence intervals that account for claims of the same answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import correlation

Z_95 = 1.959963984540054
# The intra-class correlation assumed where it cannot be estimated: with fewer than two answers, or
# with all claims alike. With five claims an answer it widens an interval by a third.
ASSUMED_ICC = 0.2
# The smallest sample rate that is believed. A rate is an attribute of a span, and an answer counts
# 1 / rate times: one answer must not outweigh all others, nor overflow the squares of the weights.
# The SDK gets this low with a rate of 0.001 in a burst, where its throttle passes 1 in 1000.
MIN_SAMPLE_RATE = 1e-6


class Measure(StrEnum):
    """Which claims a rate counts; its denominator is always the decided claims.

    `UNFAITHFUL` claims are contradicted or baseless (RT4CHART section 2), `MISLEADING` ones are
    entailed with a status other than `supported`. No claim is both; `EITHER` is their sum.
    """

    UNFAITHFUL = "unfaithful"
    MISLEADING = "misleading"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class AnswerSums:
    """Sums over verified answers; m = decided claims, x = claims of a measure, w = sample weight.

    They are sufficient for a weighted ratio and its variance, and a database can add them up. A
    claim that only a part of the answers is checked for counts in x as 1 / the rate of the check,
    so x may exceed m in one answer and is right on average (Horvitz and Thompson 1952).
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
    """A share of claims with its 95% interval; all three are None where no claim was decided.

    `size` is the number of independent claims that the interval is for, None where it has another
    origin.
    """

    value: float | None
    low: float | None
    high: float | None
    size: float | None = field(default=None, compare=False)


def claim_rate(sums: AnswerSums) -> Rate:
    """The weighted share of the claims that x counts, with an interval for clustered claims.

    The claims of one answer are correlated, so the effective number of claims is Kish's size
    divided by the design effect, which is estimated by the linearised variance of a ratio
    (Cochran, Sampling Techniques, section 6.3). The interval is Wilson's on that number.
    """
    if not is_measurable(sums):
        return Rate(None, None, None)
    rate = sums.wx / sums.wm
    size = effective_size(sums)
    return rate_of_size(rate, size / design_effect(sums, rate, size))


def is_measurable(sums: AnswerSums) -> bool:
    """True if the sums have a rate: a decided claim, and no weight too large for a float."""
    finite = all(
        map(
            math.isfinite,
            (sums.wm * sums.wm, sums.wx, sums.wwm, sums.wwxx, sums.wwxm, sums.wwmm),
        )
    )
    return finite and sums.wm > 0 and sums.wwm > 0


def effective_size(sums: AnswerSums) -> float:
    """Kish's effective number of claims; unequal weights lower it."""
    return sums.wm * sums.wm / sums.wwm


def part_rate(sums: AnswerSums, wx: float) -> Rate:
    """The weighted share of one kind of decided claims, such as the contradicted ones.

    `wx` is their weighted number. Their design effect is assumed to be that of all unfaithful
    claims: the sums do not say how one kind is spread over the answers.
    """
    whole = claim_rate(sums)
    if whole.value is None or not math.isfinite(wx):
        return Rate(None, None, None)
    size = effective_size(sums)
    return rate_of_size(wx / sums.wm, size / design_effect(sums, whole.value, size))


def undecided_rate(sums: AnswerSums, undecided: int, wu: float, wwu: float) -> Rate:
    """The weighted share of undecided claims among undecided and decided ones.

    `wu` is their weighted number, `wwu` the same with squared weights. Their spread over the
    answers is not known, so their intra-class correlation is the assumed one.
    """
    wm = sums.wm + wu
    if wm <= 0 or not math.isfinite(wm * wm + sums.wwm + wwu):
        return Rate(None, None, None)
    each = (sums.claims + undecided) / max(sums.answers, 1)
    effect = 1 + (max(each, 1.0) - 1) * ASSUMED_ICC
    return rate_of_size(wu / wm, wm * wm / (sums.wwm + wwu) / effect)


def design_effect(sums: AnswerSums, rate: float, size: float) -> float:
    """The variance of the rate relative to that of independent claims (Kish); at least 1."""
    binomial = rate * (1 - rate) / size
    if sums.answers < 2 or binomial <= 0:
        return 1 + (max(sums.claims / max(sums.answers, 1), 1) - 1) * ASSUMED_ICC
    # The sum of squared residuals w²(x - rate·m)², expanded so that sums suffice.
    residual = sums.wwxx - 2 * rate * sums.wwxm + rate**2 * sums.wwmm
    between = sums.answers / (sums.answers - 1) * max(residual, 0.0) / (sums.wm * sums.wm)
    # Below 1 only by chance: claims of one answer are not less alike than those of two.
    return max(between / binomial, 1.0)


def wilson(rate: float, size: float) -> tuple[float, float]:
    """Wilson's 95% score interval for a share of `size` (effective) independent trials."""
    spread = Z_95**2 / size
    centre = (rate + spread / 2) / (1 + spread)
    half = Z_95 / (1 + spread) * math.sqrt(rate * (1 - rate) / size + spread / (4 * size))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def rate_of_size(rate: float, size: float) -> Rate:
    """The rate with its interval for `size` effective claims."""
    share = min(max(rate, 0.0), 1.0)  # sums of floats may leave [0, 1] by rounding
    return Rate(share, *wilson(share, size), size)


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's rho of two measures, ties with their mean rank, in [-1, 1].

    None with fewer than three pairs, or where one measure is constant.
    """
    sides = [_ranks(side) for side in zip(*pairs, strict=True)]
    if len(pairs) < 3 or any(len(set(ranks)) == 1 for ranks in sides):
        return None
    return correlation(*sides)


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1 on; equal values have the mean of their ranks."""
    ordered = sorted(values)
    first = {value: at for at, value in reversed(list(enumerate(ordered, start=1)))}
    last = {value: at for at, value in enumerate(ordered, start=1)}
    return [(first[value] + last[value]) / 2 for value in values]
