"""Partial pooling: how much groups differ beyond chance, and each group's mean drawn to the whole.

A group's own mean counts for as much as the differences between groups are larger than its error.
A group of which little is known is therefore taken to be like the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Group = TypeVar("Group")
# Groups are taken to differ where their spread is so many standard deviations above that of chance.
CHANCE_SDS = 3.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured value with the variance of its error."""

    value: float
    variance: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A pooled value and its standard error."""

    value: float = 1.0
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Pooled(Generic[Group]):
    """The groups' values around 1, that of a group which was not measured, and what was fitted.

    `parameters` is the number of groups, each for the part by which its own mean counts: of so many
    degrees of freedom less are the residuals.
    """

    groups: Mapping[Group, Estimate] = field(default_factory=dict)
    unknown: Estimate = Estimate()
    parameters: float = 0.0


@dataclass(frozen=True, slots=True)
class Spread:
    """How far values lie from the means of their groups, in units of their own errors.

    `squares` is the weighted sum of squares, which is `free` on average where chance alone made
    it; a variance between the values adds `scale` times that variance.
    """

    squares: float
    free: float
    scale: float

    @property
    def variance(self) -> float:
        """The variance between values beyond their errors (DerSimonian and Laird 1986)."""
        if self.free <= 0 or self.scale <= 0:
            return 0.0
        return max(self.squares - self.free, 0.0) / self.scale

    @property
    def is_chance(self) -> bool:
        """True where chance makes such a spread more often than about once in a hundred times."""
        return self.squares <= self.free + CHANCE_SDS * math.sqrt(2 * max(self.free, 0.0))


def spread(groups: Sequence[Sequence[Measurement]], *, fitted: float | None = None) -> Spread:
    """The spread of the values of each group around its mean.

    `fitted` is the number of fitted parameters, by default one for each group.
    """
    squares = scale = 0.0
    for group in groups:
        weights = [1 / one.variance for one in group]
        total = sum(weights)
        mean = sum(w * one.value for w, one in zip(weights, group, strict=True)) / total
        squares += sum(w * (one.value - mean) ** 2 for w, one in zip(weights, group, strict=True))
        scale += total - sum(w * w for w in weights) / total
    known = len(groups) if fitted is None else fitted
    return Spread(squares, max(sum(map(len, groups)) - known, 0.0), scale)


def weighted_mean(group: Sequence[Measurement], between: float) -> Measurement:
    """The mean of values that vary by `between` beyond their own errors, and its variance."""
    weights = [1 / (one.variance + between) for one in group]
    mean = sum(w * one.value for w, one in zip(weights, group, strict=True)) / sum(weights)
    return Measurement(mean, 1 / sum(weights))


def pooled(measured: Mapping[Group, Measurement]) -> Pooled[Group]:
    """The value of each group, all around 1: the posterior mean of a normal model.

    Groups that may differ by chance alone are taken to be alike.
    """
    found = spread([list(measured.values())]) if measured else Spread(0.0, 0.0, 0.0)
    if found.is_chance:
        return Pooled()
    between = found.variance
    groups, parameters = {}, 0.0
    for name, one in measured.items():
        own = between / (between + one.variance)
        groups[name] = Estimate(1 + own * (one.value - 1), math.sqrt(own * one.variance))
        parameters += own
    parameters *= (len(measured) - 1) / len(measured)
    return Pooled(groups, Estimate(1.0, math.sqrt(between)), parameters)
