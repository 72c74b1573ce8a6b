"""What the labels say of the judge: its precision and its recall."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.rates import Rate, design_effect, effective_size
from otel_rt4chart.verify.rates.distributions import NEUTRAL, t_95
from otel_rt4chart.verify.rates.labels import TrustedLabel, by_stratum, share_sums, weighted_share
from otel_rt4chart.verify.rates.population import Population


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """How often the judge is right on a route, with 95% intervals.

    `precision` is the share of flagged claims that are wrong, `recall` the share of wrong claims
    that are flagged. Both are of all traffic, not of the labels. Without a flagged label there is
    no precision, without a wrong one no recall.
    """

    precision: Rate
    recall: Rate
    labels: int


def judge_quality(population: Population, labels: Sequence[TrustedLabel]) -> JudgeQuality:
    """The judge's precision and recall on these claims."""
    known = _calibrated(population, labels)
    flagged = [one for one in known if one.is_flagged]
    passed = [one for one in known if not one.is_flagged]
    precision = weighted_share((one.answer, one.expansion, one.wrong) for one in flagged)
    return JudgeQuality(precision, _recall(population, flagged, passed), len(labels))


def _calibrated(population: Population, labels: Sequence[TrustedLabel]) -> list[TrustedLabel]:
    """The labels with weights by which each stratum has its share of the claims.

    How many claims the judge flagged is known, so it need not be estimated from the draw.
    """
    shares = population.shares
    found = []
    for name, own in by_stratum(labels).items():
        drawn = sum(one.expansion for one in own)
        factor = shares.get(name, 0.0) / drawn
        found += [replace(one, weight=one.weight * factor) for one in own if factor > 0]
    return found


def _recall(
    population: Population, flagged: Sequence[TrustedLabel], passed: Sequence[TrustedLabel]
) -> Rate:
    """The recall; its interval is that of its odds, on the logarithmic scale.

    The odds are (flagged share · wrong among flagged) / (passed share · wrong among passed). The
    shares of wrong claims vary as beta distributions of the labels, the shares of the verdicts as
    they do between answers.
    """
    caught, missed = (sum(one.expansion * one.wrong for one in own) for own in (flagged, passed))
    if caught + missed <= 0:
        return Rate(None, None, None)
    value = caught / (caught + missed)
    if not flagged or not passed:
        # The judge flagged nothing that was drawn, or everything.
        return Rate(value, 0.0, 1.0)
    (odds, variance), (other, other_variance) = map(_wrong_claims, (flagged, passed))
    variance += other_variance + _verdict_variance(population, {one.stratum for one in flagged})
    half = t_95(max(len(flagged) + len(passed) - 2, 1)) * math.sqrt(variance)
    low, high = (_share(math.log(odds / other) + end) for end in (-half, half))
    return Rate(value, min(low, value), max(high, value))


def _wrong_claims(labels: Sequence[TrustedLabel]) -> tuple[float, float]:
    """The wrong claims that these stand for, and the variance of their logarithm."""
    sums = share_sums((one.answer, one.expansion, one.wrong) for one in labels)
    share, size = sums.wx / sums.wm, effective_size(sums)
    size /= design_effect(sums, share, size)
    smooth = (share * size + NEUTRAL) / (size + 2 * NEUTRAL)
    variance = (1 - smooth) / smooth / (size + 2 * NEUTRAL + 1)
    return sum(one.expansion for one in labels) * smooth, variance


def _verdict_variance(population: Population, flagged: Collection[str]) -> float:
    """The variance over answers of the logarithm of flagged / passed claims."""
    shares = population.shares
    share = sum(value for name, value in shares.items() if name in flagged)
    levels = {name: 1 / share if name in flagged else -1 / (1 - share) for name in shares}
    return population.variance(levels, 0.0)


def _share(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -700.0), 700.0)))
