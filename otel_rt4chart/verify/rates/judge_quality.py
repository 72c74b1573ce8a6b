"""What the labels say of the judge: its precision and its recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.labels import TrustedLabel, by_stratum, weighted_share
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
    flagged = [(one.answer, one.expansion, one.wrong) for one in known if one.is_flagged]
    wrong = [(one.answer, one.expansion * one.wrong, float(one.is_flagged)) for one in known]
    return JudgeQuality(weighted_share(flagged), weighted_share(wrong), len(labels))


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
