"""Which claims are labelled next: a draw by chance with known probabilities.

Every claim has a permanent random number u, a hash of the seed and of the claim's id, and a rate r
by which it is wanted. The queue is in the order of u / r. The first k claims of it are a sample in
which a claim has the probability min(1, t·r), where t is the value u / r of the next claim
(sequential Poisson sampling: Ohlsson 1998; unbiased as priority sampling: Duffield, Lund and Thorup
2007). So a person may stop anywhere, and a longer draw keeps what a shorter one drew.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import zip_longest
from typing import NamedTuple

from otel_rt4chart.core.errors import InputError

# The least and the most doubt that a score stands for, as a standard deviation: a judge may be sure
# and wrong, so a claim that it is sure of is drawn at seven tenths of the rate of a doubtful one.
# Both numbers were chosen in simulations (benchmarks/rates): lower ones widen the intervals of weak
# judges, higher ones those of good judges where few claims are wrong.
LEAST_DOUBT, MOST_DOUBT = 0.35, 0.5
# The part of a route's labels that its strata share equally; the others follow the doubt.
EQUAL_PART = 0.25


class LabelCandidate(NamedTuple):
    """A claim that could be labelled; `weight` is 1 / the answer's sampling rate."""

    claim: str
    route: str
    stratum: str
    score: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class QueuedClaim:
    """A drawn claim; a lower `rank` comes first.

    `rate` is the expected number of times that one label of the route falls on this claim.
    `probability` is that of the draw, to be stored with it. `raters` are to label the claim
    independently of each other.
    """

    claim: str
    route: str
    stratum: str
    rank: float
    rate: float
    probability: float
    raters: int = 1


def draw_labels(
    candidates: Iterable[LabelCandidate], size: int, *, seed: str, double_share: float = 0.0
) -> list[QueuedClaim]:
    """`size` claims of each route, in the order in which people should label them.

    Every claim of the period is a candidate, also one that has a label: a claim keeps its random
    number, so a later or larger draw contains it again, with its new probability. A claim that was
    drawn several times has the highest of its probabilities. They depend on what the judge said
    and never on a label, which is what keeps them true.
    """
    if size < 1 or not 0 <= double_share <= 1:
        raise InputError(
            f"expected a size of at least 1 and a share in [0, 1], got {size} and {double_share}"
        )
    routes = defaultdict(list)
    for candidate in candidates:
        routes[candidate.route].append(candidate)
    drawn = (_draw_route(own, size, seed, double_share) for _, own in sorted(routes.items()))
    # The routes take turns, so that whoever stops early has labelled some of each.
    turns = zip_longest(*drawn)
    return [queued for turn in turns for queued in turn if queued is not None]


def random_number(seed: str, claim: str) -> float:
    """A number in (0, 1) that is always the same for this seed and claim.

    The first 53 bits of SHA-256, so that a database computes the same one.
    """
    digest = hashlib.sha256(f"{seed}\0{claim}".encode()).digest()
    return ((int.from_bytes(digest[:8], "big") >> 11) + 0.5) / 2**53


def draw_rates(candidates: Sequence[LabelCandidate]) -> list[float]:
    """The rate of each candidate of a route; they sum to 1.

    Within a stratum the rate follows weight · √(score · (1 - score)), which has the least variance
    for a judge that knows its doubts (Zrnic and Candès 2024, arXiv 2403.03208), bounded below for
    one that does not.
    """
    wanted = [one.weight * _doubt(one.score) for one in candidates]
    sums: dict[str, float] = {}
    for one, value in zip(candidates, wanted, strict=True):
        sums[one.stratum] = sums.get(one.stratum, 0.0) + value
    total = sum(sums.values())
    shares = {
        name: EQUAL_PART / len(sums) + (1 - EQUAL_PART) * value / total
        for name, value in sums.items()
    }
    return [
        shares[one.stratum] * value / sums[one.stratum]
        for one, value in zip(candidates, wanted, strict=True)
    ]


def answered_part(queue: Iterable[QueuedClaim], done: Collection[str]) -> list[QueuedClaim]:
    """The part of a draw that counts while some of it is not `done`, with its probabilities.

    In each route, the claims before the first one that nobody has answered or skipped: labels
    behind it count as soon as it is done.
    """
    routes = defaultdict(list)
    for one in queue:
        routes[one.route].append(one)
    found = []
    for own in routes.values():
        limit = min((one.rank for one in own if one.claim not in done), default=math.inf)
        for one in own:
            if one.rank < limit:
                probability = min(one.probability, limit * one.rate)
                found.append(replace(one, probability=probability))
    return found


def next_claim(
    queue: Iterable[QueuedClaim], raters: Mapping[str, Collection[str]], rater: str
) -> QueuedClaim | None:
    """The first claim of the queue that this rater has not seen and that still needs a rater.

    `raters` are those who answered or skipped each claim.
    """
    for one in queue:
        seen = raters.get(one.claim, ())
        if rater not in seen and len(seen) < one.raters:
            return one
    return None


def _draw_route(
    candidates: Sequence[LabelCandidate], size: int, seed: str, double_share: float
) -> list[QueuedClaim]:
    rates = draw_rates(candidates)
    ranked = (
        (random_number(seed, one.claim) / rate, rate, one)
        for one, rate in zip(candidates, rates, strict=True)
    )
    first = nsmallest(size + 1, ranked, key=lambda row: (row[0], row[2].claim))
    limit = first[size][0] if len(first) > size else math.inf
    return [
        QueuedClaim(
            claim=one.claim,
            route=one.route,
            stratum=one.stratum,
            rank=rank,
            rate=rate,
            probability=min(1.0, limit * rate),
            raters=2 if random_number(f"{seed} second rater", one.claim) < double_share else 1,
        )
        for rank, rate, one in first[:size]
    ]


def _doubt(score: float) -> float:
    return min(max(math.sqrt(max(score * (1 - score), 0.0)), LEAST_DOUBT), MOST_DOUBT)
