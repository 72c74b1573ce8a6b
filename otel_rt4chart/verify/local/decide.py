"""The fitted head: how likely a claim is unfaithful, and if so, contradicted or baseless."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from otel_rt4chart.verify.local.features import FEATURES, Reading


@dataclass(frozen=True, slots=True)
class Head:
    """A logistic regression over named features; `threshold` is on its probability.

    `slope` and `offset` map the raw score to a probability (Platt), measured out of fold.
    """

    weights: Mapping[str, float]
    intercept: float
    slope: float
    offset: float
    threshold: float

    def probability(self, reading: Reading) -> float:
        """The calibrated probability, at even odds before looking."""
        score = self.intercept + sum(
            weight * reading.value(name) for name, weight in self.weights.items()
        )
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, self.slope * score + self.offset))))


@dataclass(frozen=True, slots=True)
class Heads:
    """`unfaithful` against entailed, then, of the unfaithful, `contradicted` against baseless."""

    unfaithful: Head
    contradicted: Head


@cache
def heads() -> Heads:
    """The fitted weights shipped with the package, read once; a feature it lacks is an error."""
    fitted = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return Heads(_head(fitted["unfaithful"]), _head(fitted["contradicted"]))


def _head(fitted: Mapping[str, object]) -> Head:
    weights = fitted["weights"]
    if not isinstance(weights, dict) or not set(weights) <= set(FEATURES):
        raise ValueError(f"weights.json names features beside {', '.join(FEATURES)}")
    return Head(
        {str(name): float(weight) for name, weight in weights.items()},
        *(float(str(fitted[key])) for key in ("intercept", "slope", "offset", "threshold")),
    )
