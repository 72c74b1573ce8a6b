"""What the judge said of all claims, as sums over answers that a database can add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Label

FLAGGED = "flagged"


def stratum_of(label: Label) -> str:
    """The stratum of a verdict: flagged, entailed or undecided."""
    return FLAGGED if label.is_unfaithful else label.value


def score_of(label: Label, confidence: float | None) -> float:
    """The judge's probability that a claim is wrong, from its label and confidence.

    A judge that states no confidence leaves its verdict alone: 1 or 0.
    """
    sure = 1.0 if confidence is None else confidence
    if label.is_unfaithful:
        return sure
    return 1.0 - sure if label is Label.ENTAILED else 0.5


class ScoredClaim(NamedTuple):
    """A claim as the judge left it.

    `stratum` groups claims that the judge treats alike, such as those with one verdict. `score` is
    the judge's probability that the claim is wrong.
    """

    stratum: str
    score: float


class ScoredAnswer(NamedTuple):
    """The claims of one verified answer; `weight` is 1 / the answer's sampling rate."""

    claims: Sequence[ScoredClaim]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Population:
    """The claims of a route, by strata.

    With H strata, an answer is the vector v of its number of claims in each of them, followed by
    the sum of their scores in each. `totals` is Σ w·v over the answers, `squares` is Σ w²·v·vᵀ.
    They are sufficient for an estimate and for its variance between answers.
    """

    strata: tuple[str, ...]
    answers: int
    claims: int
    totals: tuple[float, ...]
    squares: tuple[tuple[float, ...], ...]

    @property
    def weight(self) -> float:
        """The weighted number of claims."""
        return sum(self.totals[: len(self.strata)])

    @property
    def shares(self) -> dict[str, float]:
        """The weighted share of each stratum in the claims."""
        total = self.weight
        return {name: self.totals[at] / total for at, name in enumerate(self.strata)}

    @property
    def scores(self) -> dict[str, float]:
        """The mean score of each stratum; 0 for one without claims."""
        size = len(self.strata)
        sums = zip(self.strata, self.totals[:size], self.totals[size:], strict=True)
        return {name: score / count if count > 0 else 0.0 for name, count, score in sums}

    @property
    def mean_score(self) -> float:
        """The mean score of all claims: the rate as the judge's probabilities have it."""
        return sum(self.totals[len(self.strata) :]) / self.weight

    def merged(self, into: Mapping[str, str]) -> Population:
        """The same claims with some strata put into others; the names left out stay."""
        names = tuple(dict.fromkeys(into.get(name, name) for name in self.strata))
        place = [names.index(into.get(name, name)) for name in self.strata]
        place += [len(names) + at for at in place]
        totals = [0.0] * (2 * len(names))
        squares = [[0.0] * (2 * len(names)) for _ in totals]
        for old, new in enumerate(place):
            totals[new] += self.totals[old]
            for other_old, other_new in enumerate(place):
                squares[new][other_new] += self.squares[old][other_old]
        return Population(
            names, self.answers, self.claims, tuple(totals), tuple(map(tuple, squares))
        )

    def variance(self, levels: Mapping[str, float], slope: float) -> float:
        """The variance over answers of the mean of `level of the stratum + slope · score`.

        It is the linearised variance of a ratio of sums over answers (Cochran, Sampling Techniques,
        section 6.3), so it contains the correlation of the claims of one answer.
        """
        if self.answers < 2:
            return 0.25
        shares = self.shares
        mean = sum(shares[name] * levels[name] for name in self.strata) + slope * self.mean_score
        factors = [levels[name] - mean for name in self.strata] + [slope] * len(self.strata)
        pairs = product(range(len(factors)), repeat=2)
        between = sum(factors[i] * factors[j] * self.squares[i][j] for i, j in pairs)
        return self.answers / (self.answers - 1) * max(between, 0.0) / self.weight**2


def population_of(answers: Iterable[ScoredAnswer]) -> Population:
    """The sums over these answers; strata are in the order of their names."""
    read = [answer for answer in answers if answer.claims]
    strata = tuple(sorted({claim.stratum for answer in read for claim in answer.claims}))
    place = {name: at for at, name in enumerate(strata)}
    size = 2 * len(strata)
    totals = [0.0] * size
    squares = [[0.0] * size for _ in range(size)]
    for answer in read:
        vector: dict[int, float] = {}
        for claim in answer.claims:
            at = place[claim.stratum]
            vector[at] = vector.get(at, 0.0) + answer.weight
            at += len(strata)
            vector[at] = vector.get(at, 0.0) + answer.weight * claim.score
        for row, value in vector.items():
            totals[row] += value
            for column, other in vector.items():
                squares[row][column] += value * other
    claims = sum(len(answer.claims) for answer in read)
    return Population(strata, len(read), claims, tuple(totals), tuple(map(tuple, squares)))
