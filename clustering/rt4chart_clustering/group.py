"""Failures into groups: by pattern where the rules explain them, by HDBSCAN where they do not.

A pattern is a group for each service, route, label and primary operation. The operations
`addition` and `other` say only that the rules found nothing, so their failures are clustered by
their delexicalised text, and what is noise there is no group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rt4chart_clustering.cluster import NOISE, cluster, middle
from rt4chart_clustering.difference import FINGERPRINT_VERSION, POOL, Difference
from rt4chart_clustering.embed import Matrix
from rt4chart_collector.store.failures import Failure


@dataclass(frozen=True, slots=True)
class Described:
    """A failure with its difference and its description."""

    failure: Failure
    difference: Difference
    text: str

    @property
    def fingerprint(self) -> str:
        """The versioned pattern, such as `fp1:contradicted:number`."""
        return f"{FINGERPRINT_VERSION}:{self.failure.label}:{self.difference.op}"


@dataclass(frozen=True, slots=True)
class Group:
    """Failures that belong together, the most typical first, each with its distance.

    `is_whole_pattern` is True where the group is every failure of its pattern on its route.
    """

    service: str
    route: str
    fingerprint: str
    members: tuple[Described, ...]
    distances: tuple[float, ...]
    centroid: tuple[float, ...]
    is_whole_pattern: bool

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The members' failures."""
        return tuple(member.failure for member in self.members)


def group(described: Sequence[Described], vectors: Matrix, *, min_size: int) -> list[Group]:
    """The groups of at least `min_size` failures; the order of the input does not matter."""
    order = sorted(range(len(described)), key=lambda at: described[at].failure.key)
    patterns: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for at in order:
        one = described[at]
        key = (one.failure.service, one.failure.route, one.fingerprint)
        patterns[key].append(at)
    groups: list[Group] = []
    for key in sorted(patterns):
        rows = patterns[key]
        is_explained = described[rows[0]].difference.op not in POOL
        parts = [rows] if is_explained else _clusters(rows, vectors, min_size)
        groups.extend(
            _group(key, part, described, vectors, is_whole_pattern=is_explained)
            for part in parts
            if len(part) >= min_size
        )
    return groups


def _clusters(rows: Sequence[int], vectors: Matrix, min_size: int) -> Iterator[list[int]]:
    labels = cluster(vectors[np.array(rows)], min_size=min_size)
    for label in sorted(set(labels.tolist()) - {NOISE}):
        yield [row for row, found in zip(rows, labels, strict=True) if found == label]


def _group(
    key: tuple[str, str, str],
    rows: Sequence[int],
    described: Sequence[Described],
    vectors: Matrix,
    *,
    is_whole_pattern: bool,
) -> Group:
    centroid, distances = middle(vectors[np.array(rows)])
    ranked = sorted(
        zip((round(float(d), 6) for d in distances), rows, strict=True),
        key=lambda pair: (pair[0], described[pair[1]].failure.key),
    )
    return Group(
        *key,
        members=tuple(described[row] for _, row in ranked),
        distances=tuple(distance for distance, _ in ranked),
        centroid=tuple(centroid.tolist()),
        is_whole_pattern=is_whole_pattern,
    )
