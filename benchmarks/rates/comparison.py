"""One simulated deployment after another: what each way to a rate says, and how wrong it is."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from benchmarks.rates.rivals import labels_alone, rogan_gladen
from benchmarks.rates.world import Answer, Route, WorldClaim, deployment
from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.corrected import corrected_rate
from otel_rt4chart.verify.rates.judge_quality import judge_quality
from otel_rt4chart.verify.rates.label_queue import LabelCandidate, answered_part, draw_labels
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.population import (
    FLAGGED,
    Population,
    ScoredAnswer,
    ScoredClaim,
    population_of,
)
from otel_rt4chart.verify.rates.thresholds import (
    ScoredVerdict,
    ThresholdChoice,
    choose_threshold,
    entailed_verdicts,
    flagged_verdicts,
)

CORRECTED, CORRECTED_EVEN, ALONE, EVEN, ROGAN_GLADEN, RAW = (
    "corrected",
    "corrected, even draw",
    "labels alone, our draw",
    "labels alone, even draw",
    "Rogan-Gladen",
    "raw",
)
PRECISION, RECALL = "judge's precision", "judge's recall"
SIZES = (25, 50, 100, 200)
# The labels of each route from which thresholds are chosen, for all routes together.
TESTED_SIZES = (25, 100)
NOT_DECIDED = "undecided"
# The thresholds that are chosen in each deployment: at most this share of errors, 90% confidence.
ERRORS = (0.1, 0.2)


class Estimate(NamedTuple):
    """What one way says of one route of one deployment; `wanted` is the labels for ± 5 points."""

    system: str
    route: str
    labels: int
    rate: Rate
    truth: float
    wanted: int | None = None


class Threshold(NamedTuple):
    """A threshold chosen from the labels of all routes, and the error that it really has."""

    verdict: str
    allowed: float
    labels: int
    choice: ThresholdChoice
    error: float | None
    kept: float


@dataclass(frozen=True, slots=True)
class Deployment:
    """All estimates and thresholds of one deployment."""

    estimates: tuple[Estimate, ...]
    thresholds: tuple[Threshold, ...]


def simulate(routes: Sequence[Route], number: int, claims: int) -> Deployment:
    """The deployment of that number: it is the same whenever it is asked for."""
    estimates: list[Estimate] = []
    labels: dict[int, list[TrustedLabel]] = {size: [] for size in SIZES}
    for route in routes:
        chance = random.Random(f"{route.name} {number}")  # noqa: S311
        answers = deployment(route, claims, chance)
        population = population_of(map(_judged, answers))
        for size, drawn in draws(route, answers, str(number)).items():
            labels[size] += drawn
            estimates += estimates_of(route, population, drawn)
            even = chance.sample(everything(answers), size)
            plain = [_labelled(answer, claim, 1.0) for answer, claim in even]
            for system, rate in (
                (EVEN, labels_alone(plain)),
                (CORRECTED_EVEN, corrected_rate(population, plain).rate),
            ):
                estimates.append(Estimate(system, route.name, size, rate, route.rate))
        estimates.append(Estimate(RAW, route.name, 0, raw_rate(answers), route.rate))
    found = [row for size in TESTED_SIZES for row in thresholds_of(routes, labels[size], size)]
    return Deployment(tuple(estimates), tuple(found))


def draws(
    route: Route, answers: Sequence[Answer], seed: str
) -> Mapping[int, Sequence[TrustedLabel]]:
    """The labels at each size, by the shipped queue: a longer draw contains a shorter one."""
    claims = {
        f"{route.name} {number} {at}": (f"{route.name} {number}", claim)
        for number, answer in enumerate(answers)
        for at, claim in enumerate(answer)
    }
    candidates = [
        LabelCandidate(name, route.name, claim.stratum, claim.score)
        for name, (_, claim) in claims.items()
    ]
    queue = draw_labels(candidates, max(SIZES), seed=seed)
    found = {}
    for size in SIZES:
        part = answered_part(queue, {one.claim for one in queue[:size]})
        found[size] = [_labelled(*claims[one.claim], one.probability) for one in part]
    return found


def estimates_of(
    route: Route, population: Population, labels: Sequence[TrustedLabel]
) -> Iterator[Estimate]:
    """Every way to the route's rate from these labels."""
    size, name, truth = len(labels), route.name, route.rate
    found = corrected_rate(population, labels)
    yield Estimate(CORRECTED, name, size, found.rate, truth, found.labels_for(0.05))
    yield Estimate(ALONE, name, size, labels_alone(labels), truth)
    flagged = population.shares.get(FLAGGED, 0.0)
    corrected = rogan_gladen(flagged, population.claims, labels)
    yield Estimate(ROGAN_GLADEN, name, size, corrected, truth)
    quality = judge_quality(population, labels)
    yield Estimate(PRECISION, name, size, quality.precision, _precision(route))
    yield Estimate(RECALL, name, size, quality.recall, _recall(route))


def everything(answers: Sequence[Answer]) -> list[tuple[str, WorldClaim]]:
    """Every claim with its answer's name."""
    return [(str(number), claim) for number, answer in enumerate(answers) for claim in answer]


def raw_rate(answers: Sequence[Answer]) -> Rate:
    """The share of the decided claims that the judge flagged, as it is shown today."""
    strata = [one.stratum for answer in answers for one in answer]
    decided = len(strata) - strata.count(NOT_DECIDED)
    return Rate(strata.count(FLAGGED) / decided if decided else None, None, None)


def thresholds_of(
    routes: Sequence[Route], labels: Sequence[TrustedLabel], size: int
) -> Iterator[Threshold]:
    """The thresholds for flagged and for entailed claims, each with its real error."""
    for name, verdicts_of, turn in (
        (FLAGGED, flagged_verdicts, False),
        ("entailed", entailed_verdicts, True),
    ):
        verdicts: list[ScoredVerdict] = verdicts_of(labels)
        for allowed in ERRORS:
            choice = choose_threshold(verdicts, error=allowed)
            yield Threshold(name, allowed, size, choice, *_realised(routes, choice, turn))


def _realised(
    routes: Sequence[Route], choice: ThresholdChoice, turn: bool
) -> tuple[float | None, float]:
    """The share of wrong verdicts above the threshold, and of claims that are above it."""
    if choice.threshold is None:
        return None, 0.0
    above = wrong = 0.0
    for route in routes:
        claims = [one for answer in route.answers for one in answer]
        for one in claims:
            if (1 - one.score if turn else one.score) >= choice.threshold:
                above += 1 / len(claims)
                wrong += (one.is_wrong is turn) / len(claims)
    return (wrong / above if above else 0.0), above / len(routes)


@lru_cache(maxsize=100_000)
def _judged(answer: Answer) -> ScoredAnswer:
    return ScoredAnswer([ScoredClaim(one.stratum, one.score) for one in answer])


def _labelled(answer: str, claim: WorldClaim, probability: float) -> TrustedLabel:
    return TrustedLabel(
        answer,
        claim.stratum,
        claim.score,
        claim.stratum == FLAGGED,
        float(claim.is_wrong),
        probability,
    )


@lru_cache(maxsize=1_000)
def _precision(route: Route) -> float:
    flagged = [one.is_wrong for a in route.answers for one in a if one.stratum == FLAGGED]
    return sum(flagged) / max(len(flagged), 1)


@lru_cache(maxsize=1_000)
def _recall(route: Route) -> float:
    wrong = [one.stratum == FLAGGED for a in route.answers for one in a if one.is_wrong]
    return sum(wrong) / max(len(wrong), 1)
