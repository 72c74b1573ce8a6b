"""Fits a judge's confidences to trusted labels, and says whether that helps.

Two methods: a logistic curve (Platt 1999) with the identity as its prior, so that few labels change
little, and isotonic regression (Zadrozny and Elkan 2002), which follows any rising curve. Both are
fitted and judged on different answers (cross-validation); the better one is taken only if it is
better than the stated confidences beyond chance.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.verify.core.recalibration import Curve, Knots, Recalibration
from otel_rt4chart.verify.rates.distributions import t_quantile
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.reliability import UNDECIDED, confidence_of, right_share

# Fewer labels of a verdict, or of fewer answers, leave its confidences as they are.
LEAST_LABELS, LEAST_ANSWERS = 40, 20
FOLDS = 5
# How sure it must be that the new confidences are better.
SURE = 0.95
# So much of the stated confidence stays, so that no two confidences become one.
KEPT = 0.02
# So many labels' worth of doubt that the stated confidences are wrong.
PRIOR = 4.0
# Confidences of 0 and 1 are taken as these: their odds are infinite.
_LEAST, _MOST = 0.002, 0.998
_GRID = 32
_STEPS = 50


class Method(StrEnum):
    """How a curve is fitted."""

    PLATT = "platt"
    ISOTONIC = "isotonic"


class Sighting(NamedTuple):
    """A checked verdict: its confidence, the share of labels that agree, and its weight.

    `present` is the confidence that it has now, by the recalibration in force.
    """

    answer: str
    is_flagged: bool
    confidence: float
    right: float
    weight: float
    present: float


@dataclass(frozen=True, slots=True)
class Fit:
    """What labels say of a judge's confidences.

    `before` and `after` are Brier scores (mean squared distance from right or wrong, 0 is perfect)
    of the present confidences and of fitted ones on answers that they were not fitted to. `gain` is
    their difference with the lower end of its one-sided 95% interval. `refusal` says why there is
    no curve, and is "" where there is one; `more_labels` would change that, as far as known.
    """

    labels: int
    method: Method | None = None
    flagged: Curve | None = None
    entailed: Curve | None = None
    before: float | None = None
    after: float | None = None
    gain: float | None = None
    gain_low: float | None = None
    refusal: str = ""
    more_labels: int | None = None


class _Gain(NamedTuple):
    before: float
    after: float
    low: float
    error: float
    method: Method

    @property
    def value(self) -> float:
        return self.before - self.after


def fit_confidences(labels: Sequence[TrustedLabel], present: Recalibration | None = None) -> Fit:
    """The curves by these labels, which were drawn with known probabilities; or why there are none.

    The labels have the confidences that the judge states itself. New ones must be better than those
    by the recalibration that is in force at `present`. Claims that the judge left undecided say
    nothing of a confidence.
    """
    seen = _sightings(labels, present)
    kinds = {flag: [one for one in seen if one.is_flagged == flag] for flag in (True, False)}
    missing = {flag: _missing(own) for flag, own in kinds.items()}
    usable = [one for one in seen if not missing[one.is_flagged]]
    if not usable:
        more = min(missing.values())
        return Fit(
            len(seen),
            refusal=f"too few labels: {LEAST_LABELS} of flagged or of entailed claims, on "
            f"{LEAST_ANSWERS} answers, are the least",
            more_labels=more,
        )
    best = max((_cross_validated(usable, method) for method in Method), key=lambda one: one.value)
    found = Fit(
        len(seen),
        before=best.before,
        after=best.after,
        gain=best.value,
        gain_low=best.low,
        method=best.method,
    )
    if best.low <= 0:
        return _refused(found, best, len(usable))
    curves = {
        flag: None if missing[flag] else _curve(own, best.method) for flag, own in kinds.items()
    }
    return Fit(
        found.labels,
        best.method,
        curves[True],
        curves[False],
        found.before,
        found.after,
        found.gain,
        found.gain_low,
    )


def _refused(found: Fit, best: _Gain, labels: int) -> Fit:
    """Nothing is better beyond chance; how many labels might show it, if it is as large as seen."""
    more = None
    if best.value > 0:
        wanted = math.ceil(labels * (best.value - best.low) ** 2 / best.value**2)
        more = max(wanted - labels, 1)
    return Fit(
        found.labels,
        before=found.before,
        after=found.after,
        gain=found.gain,
        gain_low=found.gain_low,
        refusal="the labels do not show that other confidences would be better",
        more_labels=more,
    )


def _sightings(labels: Sequence[TrustedLabel], present: Recalibration | None) -> list[Sighting]:
    known = [one for one in labels if one.stratum != UNDECIDED]
    # Only ratios of weights count, and large ones must not leave the floats.
    largest = max((one.expansion for one in known), default=1.0)
    found = []
    for one in known:
        stated = confidence_of(one)
        now = present.confidence(stated, is_flagged=one.is_flagged) if present else stated
        found.append(
            Sighting(
                one.answer,
                one.is_flagged,
                stated,
                right_share(one),
                one.expansion / largest,
                now,
            )
        )
    return found


def _missing(seen: Sequence[Sighting]) -> int:
    answers = len({one.answer for one in seen})
    return max(LEAST_LABELS - len(seen), LEAST_ANSWERS - answers, 0)


def _cross_validated(seen: Sequence[Sighting], method: Method) -> _Gain:
    """Each fold's verdicts by curves that were fitted to the other folds, by answers."""
    folds: list[list[Sighting]] = [[] for _ in range(FOLDS)]
    for one in seen:
        folds[_fold(one.answer)].append(one)
    before: defaultdict[str, float] = defaultdict(float)
    after: defaultdict[str, float] = defaultdict(float)
    weights: defaultdict[str, float] = defaultdict(float)
    for at, own in enumerate(folds):
        others = [one for other, part in enumerate(folds) if other != at for one in part]
        curves = {
            flag: _curve([one for one in others if one.is_flagged == flag], method)
            for flag in (True, False)
        }
        for one in own:
            fitted = curves[one.is_flagged].at(one.confidence)
            before[one.answer] += one.weight * (one.present - one.right) ** 2
            after[one.answer] += one.weight * (fitted - one.right) ** 2
            weights[one.answer] += one.weight
    total = sum(weights.values())
    old, new = sum(before.values()) / total, sum(after.values()) / total
    parts = [
        before[answer] - after[answer] - (old - new) * weight for answer, weight in weights.items()
    ]
    answers = len(parts)
    # The linearised variance of a ratio of sums over answers.
    spread = math.sqrt(answers / (answers - 1) * sum(part * part for part in parts)) / total
    low = old - new - t_quantile(SURE, answers - 1) * spread
    return _Gain(old, new, low, spread, method)


def _fold(answer: str) -> int:
    return hashlib.sha256(answer.encode()).digest()[0] % FOLDS


def _curve(seen: Sequence[Sighting], method: Method) -> Curve:
    """The curve of these verdicts; the stated confidences where there are none."""
    fitted: Callable[[float], float]
    if not seen:
        return Curve(((0.0, 0.0), (1.0, 1.0)))
    # Weights that sum to Kish's effective number of labels, so that doubts weigh in labels.
    total = sum(one.weight for one in seen)
    scale = total / sum(one.weight**2 for one in seen)
    weighted = [one._replace(weight=one.weight * scale) for one in seen]
    if method is Method.PLATT:
        fitted = _platt(weighted)
        places = [at / _GRID for at in range(_GRID + 1)]
    else:
        blocks = _isotonic(weighted)
        places = sorted({0.0, 1.0, *(x for x, _ in blocks)})

        def fitted(stated: float) -> float:
            return _between(blocks, stated)

    knots: Knots = tuple((x, (1 - KEPT) * fitted(x) + KEPT * x) for x in places)
    return Curve(knots)


def _platt(seen: Sequence[Sighting]) -> Callable[[float], float]:
    """σ(a + b · log odds) with b of at least 0; the prior is a = 0 and b = 1."""
    points = [(_log_odds(one.confidence), one.right, one.weight) for one in seen]
    a, b = _newton(points, free=True)
    if b < 0:
        # The less sure, the more often right: such an order is no guide.
        a, b = _newton(points, free=False)
    return lambda stated: _share(a + b * _log_odds(stated))


def _newton(points: Sequence[tuple[float, float, float]], *, free: bool) -> tuple[float, float]:
    """The most likely (a, b) with a normal prior; not `free`, b stays 0."""
    a, b = 0.0, 1.0 if free else 0.0
    ridge = PRIOR / 4
    for _ in range(_STEPS):
        slope_a, slope_b = ridge * a, ridge * (b - 1)
        aa, ab, bb = ridge, 0.0, ridge
        for x, right, weight in points:
            share = _share(a + b * x)
            excess, curved = weight * (share - right), weight * share * (1 - share)
            slope_a, slope_b = slope_a + excess, slope_b + excess * x
            aa, ab, bb = aa + curved, ab + curved * x, bb + curved * x * x
        if free:
            whole = aa * bb - ab * ab
            step_a = (bb * slope_a - ab * slope_b) / whole
            step_b = (aa * slope_b - ab * slope_a) / whole
        else:
            step_a, step_b = slope_a / aa, 0.0
        # Full steps of Newton may overshoot where the curve is flat.
        size = max(abs(step_a), abs(step_b), 1.0)
        a, b = a - step_a / size, b - step_b / size
        if abs(step_a) + abs(step_b) < 1e-10:
            break
    return a, b


def _isotonic(seen: Sequence[Sighting]) -> list[tuple[float, float]]:
    """(mean confidence, share right) of the blocks in which the share rises (pool adjacent).

    Each block has two more labels with its stated confidence, so that none is 0 or 1.
    """
    blocks: list[tuple[float, float, float]] = []
    for one in sorted(seen, key=lambda one: one.confidence):
        blocks.append((one.weight, one.weight * one.confidence, one.weight * one.right))
        while len(blocks) > 1 and not _rises(blocks[-2], blocks[-1]):
            last, before = blocks.pop(), blocks.pop()
            blocks.append((before[0] + last[0], before[1] + last[1], before[2] + last[2]))
    prior = PRIOR / 2
    found = [
        (stated / size, (right + prior * stated / size) / (size + prior))
        for size, stated, right in blocks
    ]
    # The prior may turn two blocks round.
    rising = found[:1]
    for x, y in found[1:]:
        if x > rising[-1][0]:
            rising.append((x, max(y, rising[-1][1])))
    return rising


def _rises(before: tuple[float, float, float], after: tuple[float, float, float]) -> bool:
    return before[2] / before[0] < after[2] / after[0] and before[1] / before[0] < (
        after[1] / after[0]
    )


def _between(blocks: Sequence[tuple[float, float]], stated: float) -> float:
    if stated <= blocks[0][0]:
        return blocks[0][1]
    for (x, y), (other_x, other_y) in pairwise(blocks):
        if stated <= other_x:
            return y + (stated - x) / (other_x - x) * (other_y - y)
    return blocks[-1][1]


def _log_odds(confidence: float) -> float:
    share = min(max(confidence, _LEAST), _MOST)
    return math.log(share / (1 - share))


def _share(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -700.0), 700.0)))
