"""The figures of the judge's table over plain numbers: ranking, calibration, risk, intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 10
RESAMPLES, SEED = 1_000, 0

Floats = NDArray[np.float64]


class Bin(NamedTuple):
    """Some of the probabilities: how many, their mean, and the share of them that came true."""

    n: int
    said: float
    true: float
    weight: float


class Cut(NamedTuple):
    """A cascade's threshold before a second judge that is always right."""

    threshold: float
    escalated: float
    kept_error: float | None
    error_left: float


def auroc(scores: Sequence[float], truths: Sequence[bool]) -> float | None:
    """The chance that a true one is scored above a false one, ties half; None without both."""
    true = sum(truths)
    false = len(truths) - true
    if not true or not false:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    above = float(ranks[place][np.asarray(truths, dtype=bool)].sum())
    return (above - true * (true + 1) / 2) / (true * false)


def macro_f1(
    pairs: Sequence[tuple[Hashable, Hashable]], labels: Sequence[Hashable]
) -> float | None:
    """The mean F1 over the labels that occur; `pairs` are of the true one and the given one."""
    found = []
    for label in labels:
        hit = sum(true == label == given for true, given in pairs)
        either = sum((true == label) + (given == label) for true, given in pairs)
        if either:
            found.append(2 * hit / either)
    return sum(found) / len(found) if found else None


def balancing(groups: Sequence[Hashable]) -> list[float]:
    """Weights by which every group weighs the same."""
    counts: dict[Hashable, int] = {}
    for group in groups:
        counts[group] = counts.get(group, 0) + 1
    return [len(groups) / (len(counts) * counts[group]) for group in groups]


def reliability(
    said: Sequence[float], truths: Sequence[bool], weights: Sequence[float] | None = None
) -> list[Bin]:
    """Ten bins of about the same weight, from the least probable; equal ones stay together."""
    if not said:
        return []
    values, place = np.unique(said, return_inverse=True)
    heavy = np.ones(len(said)) if weights is None else np.asarray(weights, dtype=float)
    mass = np.bincount(place, heavy)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    number = np.minimum((middle * BINS).astype(int), BINS - 1)[place]
    true, probable = np.asarray(truths, dtype=float), values[place]
    return [_bin(number == one, probable, true, heavy) for one in np.unique(number)]


def _bin(inside: NDArray[np.bool_], said: Floats, true: Floats, weights: Floats) -> Bin:
    mass = weights[inside]
    return Bin(
        int(inside.sum()),
        float(np.average(said[inside], weights=mass)),
        float(np.average(true[inside], weights=mass)),
        float(mass.sum()),
    )


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """The mean distance of what was said from what came true (ECE)."""
    total = sum(one.weight for one in bins)
    return sum(one.weight * abs(one.said - one.true) for one in bins) / total if total else None


def risks(confidences: Sequence[float], wrong: Sequence[bool]) -> Floats:
    """The error of the k surest, for each k; equally sure ones share their errors."""
    _, place, counts = np.unique(confidences, return_inverse=True, return_counts=True)
    mean = np.bincount(place, np.asarray(wrong, dtype=float)) / counts
    ordered = np.repeat(mean[::-1], counts[::-1])
    found: Floats = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    return found


def kept_error(risk: Floats, share: float) -> float | None:
    """The error where this share of the claims is kept, the surest."""
    return float(risk[max(1, round(share * len(risk))) - 1]) if len(risk) else None


def cut(confidences: Sequence[float], wrong: Sequence[bool], threshold: float) -> Cut:
    """What goes on under this threshold, and what is wrong of what stays and of all."""
    stay = [is_wrong for one, is_wrong in zip(confidences, wrong, strict=True) if one >= threshold]
    total = max(len(wrong), 1)
    error = sum(stay) / len(stay) if stay else None
    return Cut(threshold, 1 - len(stay) / total, error, sum(stay) / total)


class Tally(NamedTuple):
    """One document's answers by what they are and whether they were flagged."""

    hit: int = 0
    missed: int = 0
    false: int = 0
    passed: int = 0


def intervals(
    documents: Sequence[Sequence[Tally]],
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """95% of the balanced accuracy over all data sets' answers, and of the mean of their own.

    Documents are drawn with replacement within each data set, always the same ones.
    """
    chance = np.random.default_rng(SEED)
    drawn = []
    for tallies in documents:
        counts = np.asarray(tallies, dtype=float)
        picks = chance.integers(len(counts), size=(RESAMPLES, len(counts)))
        drawn.append(counts[picks].sum(axis=1))
    if not drawn:
        return None, None
    own = np.mean([_balanced(one) for one in drawn], axis=0)
    return _interval(_balanced(np.sum(drawn, axis=0))), _interval(own)


def _balanced(counts: Floats) -> Floats:
    hit, missed, false, passed = counts.T
    with np.errstate(invalid="ignore"):
        found: Floats = (hit / (hit + missed) + passed / (false + passed)) / 2
    return found


def _interval(figures: Floats) -> tuple[float, float] | None:
    """None where a resample lacks one of the classes too often to say."""
    known = figures[~np.isnan(figures)]
    if len(known) < RESAMPLES / 2:
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
