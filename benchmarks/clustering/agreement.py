"""How groups agree with what is known of failures: over all, within routes, and how surely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.clustering.rows import Failing
from benchmarks.clustering.systems import Grouping, System, apart

Labels = NDArray[np.int64]
SEED, RESAMPLES, TAIL = 7, 500, 5.0


def against_pattern(labels: Labels, rows: Sequence[Failing]) -> float:
    """ARI over the rows whose pattern is known."""
    known = np.array([one.pattern != "" for one in rows])
    patterns = np.array([one.pattern for one in rows])
    return float(adjusted_rand_score(patterns[known], labels[known]))


def within_routes(labels: Labels, rows: Sequence[Failing]) -> float:
    """The mean over topics, each taken as a route, by how many of its rows have a known pattern."""
    total = weights = 0.0
    for route in sorted({one.topic for one in rows}):
        at = [at for at, one in enumerate(rows) if one.topic == route and one.pattern]
        if at:
            total += len(at) * against_pattern(labels[at], [rows[one] for one in at])
            weights += len(at)
    return total / weights if weights else 0.0


def interval(labels: Labels, rows: Sequence[Failing]) -> tuple[float, float]:
    """The 5% and 95% points of the ARI against the pattern over halves of the documents.

    Half of a sample varies without the other half as the whole does around the truth; a sample
    drawn with replacement would have pairs of a row with itself, which always agree.
    """
    documents: dict[str, list[int]] = {}
    for at, one in enumerate(rows):
        if one.pattern:
            documents.setdefault(one.document, []).append(at)
    parts, chance = list(documents.values()), np.random.default_rng(SEED)
    found = []
    for _ in range(RESAMPLES):
        drawn = chance.permutation(len(parts))[: max(len(parts) // 2, 1)]
        inside = [at for part in drawn.tolist() for at in parts[part]]
        found.append(against_pattern(labels[inside], [rows[at] for at in inside]))
    low, high = np.percentile(found, [TAIL, 100 - TAIL])
    return float(low), float(high)


def route_by_route(system: System, rows: Sequence[Failing], setting: float) -> Grouping:
    """The same way on each topic's rows alone, as a product does that has routes."""
    labels = np.full(len(rows), -1, dtype=np.int64)
    for route in sorted({one.topic for one in rows}):
        at = np.array([at for at, one in enumerate(rows) if one.topic == route])
        found = system.group([rows[one] for one in at], setting).labels
        labels[at] = np.where(found < 0, -1, found + labels.max() + 1)
    return Grouping(labels, np.zeros((len(rows), 0), dtype=np.float32))


def at_most(rows: Sequence[Failing]) -> float:
    """What a grouping would get that knows the patterns and divides each by our operations."""
    found = [f"{row.pattern} {one.kind}" for row, one in zip(rows, apart(rows), strict=True)]
    return against_pattern(np.unique(found, return_inverse=True)[1], rows)
