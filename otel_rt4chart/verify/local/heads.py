"""Fitted logistic heads over named features, and the bounds that they must respect."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.local.differences import Difference
from otel_rt4chart.verify.local.features import FEATURES, Reading

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


@dataclass(frozen=True, slots=True)
class Heads:
    """`unfaithful` against entailed, then, of the unfaithful, `contradicted` against baseless."""

    unfaithful: Head
    contradicted: Head


@cache
def heads() -> Heads:
    """The fitted weights shipped with the package, read once; a feature it lacks is an error."""
    fitted = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return Heads(
        read_head(fitted["unfaithful"], FEATURES), read_head(fitted["contradicted"], FEATURES)
    )


# Of the training rows' single claims with less of their weight in the passages, 443 of 470 are
# unfaithful (SummEdits alone: 25 of 36).
_UNCOVERED, _MOSTLY_WRONG = 0.4, 0.85
# A sentence that has this share of a claim's other words' weight, two of them at least, and another
# date or number in it: of 106 such claims in the training rows, 89 are unfaithful.
_COPIED, _OTHERS, _DENIED = 0.8, 2, 0.7


def covered_floor(reading: Reading) -> float:
    """Too little of the claim stands anywhere: for judges that compare words alone."""
    return _MOSTLY_WRONG if reading.laid.coverage < _UNCOVERED else 0.0


def denied_floor(reading: Reading) -> float:
    """Its sentence says otherwise: "1 May" against "1 April", "cures" against "may cure"."""
    if is_swapped(reading):
        return _DENIED
    return _DENIED if _says_otherwise(reading, "date", "number", "quantifier") else 0.0


def reversed_floor(reading: Reading) -> float:
    """Its sentence says the rest of it and denies it, or the other way: of 25 such claims in the
    training rows, 24 are unfaithful.
    """
    return _DENIED if _says_otherwise(reading, "negation") else 0.0


def swapped_floor(reading: Reading) -> float:
    """The least P(contradicted) of a claim that gives one subject another's value."""
    return _DENIED if is_swapped(reading) else 0.0


def is_swapped(reading: Reading) -> bool:
    """True where a value stands with another subject."""
    return any(one.manner == "swapped" for one in reading.differences)


def _says_otherwise(reading: Reading, *slots: str) -> bool:
    """True where a sentence that says the rest of the claim clashes in one of these slots."""
    return any(
        one.slot in slots and one.manner == "clash" and _is_copied(reading, one)
        for one in reading.differences
    )


def _is_copied(reading: Reading, one: Difference) -> bool:
    """True where the clash's sentence has nearly all that the claim says besides."""
    laid = reading.laid
    if laid.share(one.sentence) >= _COPIED:
        return True
    claimed = content(one.claimed)
    meets = laid.meets[laid.sentences.index(one.sentence)]
    others = [
        (weight, bool(places))
        for word, weight, places in zip(reading.claim.words, laid.weights, meets, strict=True)
        if word.stem not in claimed
    ]
    held = sum(weight for weight, is_met in others if is_met)
    return len(others) >= _OTHERS and held >= _COPIED * sum(weight for weight, _ in others)
