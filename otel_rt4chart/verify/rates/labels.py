"""Trusted labels on claims that were drawn with a known probability."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from operator import mul

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate


@dataclass(frozen=True, slots=True)
class TrustedLabel:
    """A claim with the verdicts of the judge and of those that are trusted.

    `answer` identifies the answer, whose claims are not independent. `score` is the judge's
    probability that the claim is wrong, `is_flagged` its verdict. `wrong` is the share of the
    trusted labels that call the claim wrong: 0 or 1 with one label. `probability` is the one with
    which the claim was drawn, `weight` is 1 / the answer's sampling rate. `has_confidence` is false
    where the judge stated none: its score is then the verdict alone.
    """

    answer: str
    stratum: str
    score: float
    is_flagged: bool
    wrong: float
    probability: float = 1.0
    weight: float = 1.0
    has_confidence: bool = True

    def __post_init__(self) -> None:
        """InputError for a probability that no draw has, and for shares outside [0, 1]."""
        if not 0 < self.probability <= 1:
            raise InputError(f"expected a probability in (0, 1], got {self.probability}")
        if not (0 <= self.wrong <= 1 and 0 <= self.score <= 1):
            raise InputError(
                f"expected wrong and score in [0, 1], got {self.wrong} and {self.score}"
            )
        if not 0 < self.weight < float("inf"):
            raise InputError(f"expected a positive weight, got {self.weight}")

    @property
    def expansion(self) -> float:
        """How many claims of the traffic this one stands for (Horvitz and Thompson 1952)."""
        return self.weight / self.probability


def weighted_share(rows: Iterable[tuple[str, float, float]]) -> Rate:
    """The share that rows of (answer, weight, counted share) give, clustered by answer."""
    return claim_rate(share_sums(rows))


def share_sums(rows: Iterable[tuple[str, float, float]]) -> AnswerSums:
    """The sums of rows of (answer, weight, counted share); weights are made relative."""
    read = [row for row in rows if row[1] > 0]
    # Only ratios of weights count; a weight of 1e6 must not leave the floats when it is squared.
    largest = max((weight for _, weight, _ in read), default=1.0)
    claims_by_answer: dict[str, float] = {}
    counted_by_answer: dict[str, float] = {}
    squares = 0.0
    for answer, given, counted in read:
        weight = given / largest
        squares += weight * weight
        claims_by_answer[answer] = claims_by_answer.get(answer, 0.0) + weight
        counted_by_answer[answer] = counted_by_answer.get(answer, 0.0) + weight * counted
    m, x = list(claims_by_answer.values()), list(counted_by_answer.values())
    return AnswerSums(
        answers=len(m),
        claims=len(read),
        wm=sum(m),
        wx=sum(x),
        wwm=squares,
        wwxx=sum(map(mul, x, x)),
        wwxm=sum(map(mul, x, m)),
        wwmm=sum(map(mul, m, m)),
    )


def by_stratum(labels: Iterable[TrustedLabel]) -> dict[str, list[TrustedLabel]]:
    """The labels of each stratum."""
    found = defaultdict(list)
    for one in labels:
        found[one.stratum].append(one)
    return dict(found)
