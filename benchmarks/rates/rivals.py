"""The other ways to a rate from a judge and some labels, each with its 95% interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, pvariance, variance

from otel_rt4chart.verify.core.rates import Z_95, Rate
from otel_rt4chart.verify.rates.labels import TrustedLabel, weighted_share


def labels_alone(labels: Sequence[TrustedLabel]) -> Rate:
    """The labels' own share, each weighted by what it stands for; the judge is not asked."""
    return weighted_share((one.answer, one.expansion, one.wrong) for one in labels)


def rogan_gladen(flagged: float, claims: int, labels: Sequence[TrustedLabel]) -> Rate:
    """(flagged + specificity - 1) / (sensitivity + specificity - 1), by the delta method.

    Rogan and Gladen 1978, with the adjusted interval of Lang and Reiczigel 2014. Empty where the
    judge is no better than chance, as the labels have it, or was seen on one class alone.
    """
    wrong = [one for one in labels if one.wrong > 0.5]
    right = [one for one in labels if one.wrong <= 0.5]
    if not wrong or not right:
        return Rate(None, None, None)
    (recall, hits), (passed, passes) = _seen(wrong), _seen(right)
    sensitivity, specificity = (
        (hits * recall + 1) / (hits + 2),
        1 - (passes * passed + 1) / (passes + 2),
    )
    better = sensitivity + specificity - 1
    if better <= 0:
        return Rate(None, None, None)
    seen = (claims * flagged + Z_95**2 / 2) / (claims + Z_95**2)
    value = (seen + specificity - 1) / better
    spread = math.sqrt(
        seen * (1 - seen) / (claims + Z_95**2)
        + value**2 * sensitivity * (1 - sensitivity) / (hits + 2)
        + (1 - value) ** 2 * specificity * (1 - specificity) / (passes + 2)
    )
    half = Z_95 * spread / better
    return Rate(*(min(max(one, 0.0), 1.0) for one in (value, value - half, value + half)))


def _seen(labels: Sequence[TrustedLabel]) -> tuple[float, float]:
    """The share that was flagged, and Kish's effective number of labels."""
    weights = [one.expansion for one in labels]
    flagged = sum(w for w, one in zip(weights, labels, strict=True) if one.is_flagged)
    return flagged / sum(weights), sum(weights) ** 2 / sum(w * w for w in weights)


def power_tuned_mean(
    labels: Sequence[float], scores: Sequence[float], unlabelled: Sequence[float]
) -> tuple[float, float, float, float]:
    """Value, ends and λ of PPI++ as published: labels drawn evenly, no strata, no clusters.

    Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453, sections 2 and 6, with the choices of
    `ppi_mean_ci` in ppi-python 0.2.3.
    """
    n, many = len(labels), len(unlabelled)
    label_mean, score_mean = fmean(labels), fmean(scores)
    pairs = zip(labels, scores, strict=True)
    covariance = sum((y - label_mean) * (f - score_mean) for y, f in pairs) / n
    spread = variance([*scores, *unlabelled])
    tuning = min(max(covariance / ((1 + n / many) * spread), 0.0), 1.0)
    residuals = [y - tuning * f for y, f in zip(labels, scores, strict=True)]
    value = tuning * fmean(unlabelled) + fmean(residuals)
    squared = tuning**2 * pvariance(unlabelled) / many + pvariance(residuals) / n
    half = Z_95 * math.sqrt(squared)
    return value, value - half, value + half, tuning
