"""A fitted head: a calibrated logistic regression over named values."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

_EXTREME = 40.0
_KEYS = ("intercept", "slope", "offset", "threshold")


@dataclass(frozen=True, slots=True)
class Head:
    """`threshold` is on the probability.

    `slope` and `offset` map the raw score to a probability (Platt), measured out of fold.
    """

    weights: Mapping[str, float]
    intercept: float
    slope: float
    offset: float
    threshold: float

    def probability(self, values: Mapping[str, float]) -> float:
        """The calibrated probability, at even odds before looking."""
        raw = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        score = self.slope * raw + self.offset
        return 1.0 / (1.0 + math.exp(-max(-_EXTREME, min(_EXTREME, score))))


def read_head(fitted: Mapping[str, object], known: Collection[str]) -> Head:
    """A head from what its fit wrote; ValueError where it weighs what is not known here."""
    weights = fitted["weights"]
    if not isinstance(weights, dict) or not set(weights) <= set(known):
        raise ValueError(f"expected weights of some of {', '.join(known)}; got {weights}")
    named = {str(name): float(weight) for name, weight in weights.items()}
    return Head(named, *(float(str(fitted[key])) for key in _KEYS))
