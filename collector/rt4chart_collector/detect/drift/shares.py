"""Sums over answers' shares of counted claims, and the means and errors that follow from them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rt4chart_collector.store.rates.ticks import Bin


@dataclass(frozen=True, slots=True)
class Shares:
    """Sums over answers, each weighted by 1 / its sample rate; new ones are of no answer.

    The likely values, `likely_mean` and `likely_variance`, include one answer more without a
    counted claim and one more of counted claims only (Laplace's rule of succession): with few
    answers, a mean or a variance of zero says little.
    """

    weight: float = 0.0
    shares: float = 0.0
    squares: float = 0.0
    weights_squared: float = 0.0
    answers: int = 0

    def plus(self, other: Shares, times: int = 1) -> Shares:
        """The sums over both; without the other's where `times` is -1."""
        return Shares(
            self.weight + times * other.weight,
            self.shares + times * other.shares,
            self.squares + times * other.squares,
            self.weights_squared + times * other.weights_squared,
            self.answers + times * other.answers,
        )

    @property
    def size(self) -> float:
        """Kish's effective number of answers."""
        return self.weight * self.weight / self.weights_squared if self.weight else 0.0

    @property
    def mean(self) -> float:
        """The weighted mean; 0 without an answer."""
        return self.shares / self.weight if self.weight else 0.0

    @property
    def likely_mean(self) -> float:
        """The mean with two answers more; 0.5 without an answer."""
        return (self.mean * self.size + 1) / (self.size + 2)

    @property
    def likely_variance(self) -> float:
        """The variance of one answer's share, at least that of the mean of two answers more."""
        plain = self.squares / self.weight - self.mean * self.mean if self.weight else 0.0
        likely = self.likely_mean
        return max(plain, likely * (1 - likely) / (self.size + 2))

    @property
    def error(self) -> float:
        """The standard error of the mean; infinite without an answer."""
        return math.sqrt(self.likely_variance / self.size) if self.weight else math.inf


def shares_of(bins: Iterable[Bin]) -> Shares:
    """The sums over the answers in these bins that have a decided claim."""
    weights = shares = squares = weights_squared = 0.0
    answers = 0
    for bin_ in bins:
        if bin_.decided > 0 and bin_.sample_rate > 0:
            weight, share = bin_.answers / bin_.sample_rate, bin_.counted / bin_.decided
            weights += weight
            shares += weight * share
            squares += weight * share * share
            weights_squared += weight / bin_.sample_rate
            answers += bin_.answers
    return Shares(weights, shares, squares, weights_squared, answers)


def total(each: Iterable[Shares]) -> Shares:
    """The sums over all of them."""
    weights = shares = squares = weights_squared = 0.0
    answers = 0
    for one in each:
        weights += one.weight
        shares += one.shares
        squares += one.squares
        weights_squared += one.weights_squared
        answers += one.answers
    return Shares(weights, shares, squares, weights_squared, answers)
