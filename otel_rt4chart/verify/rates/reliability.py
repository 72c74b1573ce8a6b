"""How often a judge's verdicts are right, by the confidence that it states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.labels import TrustedLabel, weighted_share

UNDECIDED = Label.UNDECIDED.value
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The labelled claims with a confidence of at least `low` and below `high`; 1.0 is in the last.

    `confidence` is the mean that the judge stated, `right` the share of the traffic's claims on
    which it is right, with a 95% interval. A calibrated judge has both equal.
    """

    low: float
    high: float
    labels: int
    confidence: float
    right: Rate


def reliability(labels: Iterable[TrustedLabel]) -> list[ReliabilityBin]:
    """The bins that hold labels.

    Claims that the judge left undecided, or without a confidence, are in none.
    """
    with_one = [one for one in labels if one.stratum != UNDECIDED and one.has_confidence]
    known = [(confidence_of(one), one) for one in with_one]
    found = []
    for low, high in pairwise(EDGES):
        own = [
            (confidence, one)
            for confidence, one in known
            if low <= confidence and (confidence < high or high == EDGES[-1])
        ]
        if own:
            weight = sum(one.expansion for _, one in own)
            stated = sum(confidence * one.expansion for confidence, one in own) / weight
            right = weighted_share((one.answer, one.expansion, right_share(one)) for _, one in own)
            found.append(ReliabilityBin(low, high, len(own), stated, right))
    return found


def confidence_of(label: TrustedLabel) -> float:
    """The confidence that the judge states in its verdict."""
    return label.score if label.is_flagged else 1 - label.score


def right_share(label: TrustedLabel) -> float:
    """The share of the trusted labels that agree with the judge's verdict."""
    return label.wrong if label.is_flagged else 1 - label.wrong
