"""The fitted classifiers over a claim's features, and the lower bounds on what they answer."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.local.differences import SlotDifference
from otel_rt4chart.verify.local.features import FEATURES, ClaimReading

_MAX_SCORE = 40.0  # keeps `exp` from overflowing
_KEYS = ("intercept", "slope", "offset", "threshold")


@dataclass(frozen=True, slots=True)
class LogisticHead:
    """A logistic regression over named features; `threshold` applies to the probability.

    `slope` and `offset` calibrate the raw score (Platt scaling, fitted out of fold).
    """

    weights: Mapping[str, float]
    intercept: float
    slope: float
    offset: float
    threshold: float

    def probability(self, values: Mapping[str, float]) -> float:
        """The calibrated probability, for classes of equal prior probability."""
        raw = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        score = self.slope * raw + self.offset
        return 1.0 / (1.0 + math.exp(-max(-_MAX_SCORE, min(_MAX_SCORE, score))))


def read_head(fitted: Mapping[str, object], known: Collection[str]) -> LogisticHead:
    """The head that a fit wrote; ValueError where it has weights of unknown features."""
    weights = fitted["weights"]
    if not isinstance(weights, dict) or not set(weights) <= set(known):
        raise ValueError(f"expected weights of some of {', '.join(known)}; got {weights}")
    named = {str(name): float(weight) for name, weight in weights.items()}
    return LogisticHead(named, *(float(str(fitted[key])) for key in _KEYS))


@dataclass(frozen=True, slots=True)
class RulesHeads:
    """`unfaithful` against entailed, then, of the unfaithful, `contradicted` against baseless."""

    unfaithful: LogisticHead
    contradicted: LogisticHead


@cache
def rules_heads() -> RulesHeads:
    """The fitted weights that the package ships, read once."""
    fitted = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return RulesHeads(
        read_head(fitted["unfaithful"], FEATURES), read_head(fitted["contradicted"], FEATURES)
    )


class Odds(NamedTuple):
    """P(unfaithful), P(contradicted | unfaithful), and the threshold of each."""

    unfaithful: float
    contradicted: float
    unfaithful_threshold: float
    contradicted_threshold: float


# Of the training rows' single claims with less of their weight in the passages, 443 of 470 are
# unfaithful (SummEdits alone: 25 of 36).
_UNCOVERED, _MOSTLY_WRONG = 0.4, 0.85
# Of the claims in the training rows of which one sentence has this share of the other words' weight
# (two words at least) and another date or number, 89 of 106 are unfaithful.
_COPIED, _MIN_OTHERS, _LIKELY_WRONG = 0.8, 2, 0.7


def uncovered_floor(reading: ClaimReading) -> float:
    """The least P(unfaithful) where too little of the claim stands anywhere in the context.

    Only for judges that compare words alone.
    """
    return _MOSTLY_WRONG if reading.alignment.coverage < _UNCOVERED else 0.0


def clash_floor(reading: ClaimReading) -> float:
    """The least P(unfaithful) where the claim's sentence has another value or quantifier.

    "1 May" for "1 April", "cures" for "may cure".
    """
    if is_swapped(reading):
        return _LIKELY_WRONG
    return _LIKELY_WRONG if _has_clash(reading, "date", "number", "quantifier") else 0.0


def negation_floor(reading: ClaimReading) -> float:
    """The least P(unfaithful) where the claim's sentence says the rest of it and denies it.

    Or where the claim denies it. Of 25 such claims in the training rows, 24 are unfaithful.
    """
    return _LIKELY_WRONG if _has_clash(reading, "negation") else 0.0


def swap_floor(reading: ClaimReading) -> float:
    """The least P(contradicted) where the claim gives one subject another one's value."""
    return _LIKELY_WRONG if is_swapped(reading) else 0.0


def is_swapped(reading: ClaimReading) -> bool:
    """True where the context has the claim's value with another subject."""
    return any(one.manner == "swapped" for one in reading.differences)


def _has_clash(reading: ClaimReading, *slots: str) -> bool:
    """True where a sentence that says the rest of the claim clashes in one of these slots."""
    return any(
        one.slot in slots and one.manner == "clash" and _is_mostly_copied(reading, one)
        for one in reading.differences
    )


def _is_mostly_copied(reading: ClaimReading, one: SlotDifference) -> bool:
    """True where the sentence that clashes has nearly all of the claim's other words."""
    alignment = reading.alignment
    if alignment.share(one.sentence) >= _COPIED:
        return True
    claimed = content(one.claimed)
    matches = alignment.matches[alignment.sentences.index(one.sentence)]
    others = [
        (weight, bool(places))
        for word, weight, places in zip(
            reading.claim.words, alignment.weights, matches, strict=True
        )
        if word.stem not in claimed
    ]
    held = sum(weight for weight, is_met in others if is_met)
    return len(others) >= _MIN_OTHERS and held >= _COPIED * sum(weight for weight, _ in others)
