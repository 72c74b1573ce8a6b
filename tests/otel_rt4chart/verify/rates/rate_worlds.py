"""Small worlds with a known rate, for the tests of corrected rates."""

from __future__ import annotations

import random
from typing import NamedTuple

from otel_rt4chart.verify.rates.label_queue import LabelCandidate, draw_labels
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.population import (
    Population,
    ScoredAnswer,
    ScoredClaim,
    population_of,
)


class KnownClaim(NamedTuple):
    """A claim with the judge's verdict and the truth."""

    answer: str
    is_flagged: bool
    score: float
    is_wrong: bool

    @property
    def stratum(self) -> str:
        """The stratum of the verdict."""
        return "flagged" if self.is_flagged else "entailed"


def make_claims(
    chance: random.Random, *, rate: float, recall: float, alarms: float, answers: int = 200
) -> list[KnownClaim]:
    """Five claims an answer, correlated; a judge with this recall and rate of false alarms."""
    found = []
    for number in range(answers):
        share = chance.betavariate(rate * 4, (1 - rate) * 4)
        for _ in range(5):
            is_wrong = chance.random() < share
            flagged = chance.random() < (recall if is_wrong else alarms)
            sure = chance.uniform(0.6, 1.0) if flagged == is_wrong else chance.uniform(0.5, 0.9)
            found.append(KnownClaim(str(number), flagged, sure if flagged else 1 - sure, is_wrong))
    return found


def population_from(claims: list[KnownClaim]) -> Population:
    """What the judge says of these claims."""
    answers: dict[str, list[ScoredClaim]] = {}
    for one in claims:
        answers.setdefault(one.answer, []).append(ScoredClaim(one.stratum, one.score))
    return population_of(ScoredAnswer(found) for found in answers.values())


def label(claim: KnownClaim, probability: float = 1.0) -> TrustedLabel:
    """A person's label, which is right."""
    return TrustedLabel(
        claim.answer,
        claim.stratum,
        claim.score,
        claim.is_flagged,
        float(claim.is_wrong),
        probability,
    )


def labels_drawn(claims: list[KnownClaim], size: int, seed: str) -> list[TrustedLabel]:
    """So many labels as the queue draws them."""
    candidates = [
        LabelCandidate(str(at), "route", one.stratum, one.score) for at, one in enumerate(claims)
    ]
    queue = draw_labels(candidates, size, seed=seed)
    return [label(claims[int(one.claim)], one.probability) for one in queue]
