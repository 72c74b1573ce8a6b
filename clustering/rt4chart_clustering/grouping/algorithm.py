"""The clustering algorithm as the rest of this folder sees it: vectors in, groups out.

To replace HDBSCAN, implement `Grouping` and build it in `commands/cluster.py`. The functions below
work on any algorithm's groups: their centroids, and the claims that show what a group is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rt4chart_clustering.description.embedding import Matrix


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits that belong to an algorithm, because they depend on the groups that it finds.

    `min_size` is the number of failures that make an issue, and `max_rows` the most vectors that
    one call takes. A failure belongs to an issue up to `member_distance` (cosine distance) from its
    centroid. Two centroids of one partition are the same issue from `same_similarity` (cosine). Two
    samples of an issue show the same subgroup from `stable_similarity`, and a subgroup needs
    `1 / subgroup_parts` of the sample. `max_soft_rows` is the most vectors of a soft membership.
    """

    min_size: int
    max_rows: int
    member_distance: float
    same_similarity: float
    stable_similarity: float
    subgroup_parts: int
    max_soft_rows: int


@dataclass(frozen=True, slots=True)
class Group:
    """A group of vectors: its members' rows, its unit centroid, and how far each member is off it.

    A distance of 0 is the most typical member.
    """

    rows: NDArray[np.int64]
    centroid: Matrix
    distances: Matrix


@dataclass(frozen=True, slots=True)
class SoftGroups:
    """How much each row belongs to each cluster (rows x clusters), and how much it is an outlier.

    A row's shares add up to at most 1; the rest is the probability that it belongs to none.
    Outlier scores go from 0 to 1.
    """

    shares: Matrix
    outliers: Matrix


class Grouping(Protocol):
    """Finds the groups among the failures of one partition."""

    @property
    def thresholds(self) -> Thresholds:
        """The limits that go with this algorithm."""

    def group(self, vectors: Matrix, *, min_size: int = 0) -> list[Group]:
        """The groups, each row in at most one; a row in no group is not an issue yet.

        Rows have length 1, or 0 for a text without words. `min_size` raises the threshold. The same
        rows in the same order give the same groups, because issue ids follow from them.
        """

    def soft_groups(self, vectors: Matrix) -> SoftGroups:
        """The soft membership of at most `max_soft_rows` vectors of all partitions of a service."""


def group_of(vectors: Matrix, rows: NDArray[np.int64]) -> Group:
    """The group that consists of these rows."""
    centroid, distances = centroid_of(vectors[rows])
    return Group(rows, centroid, distances)


def centroid_of(vectors: Matrix) -> tuple[Matrix, Matrix]:
    """The unit centroid of the rows, and each row's cosine distance from it."""
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    centroid = (mean / length if length else mean).astype(np.float32)
    return centroid, (1 - vectors @ centroid).astype(np.float32)


# Cosine distances up to this are rounding errors: the words are the same.
SAME_DISTANCE = 1e-3


def choose_examples(claims: Matrix, *, number: int, same: float = SAME_DISTANCE) -> list[int]:
    """The rows of the chosen claims: the medoid, then always the one farthest from all chosen.

    A claim within `same` (cosine distance) of a chosen one is left out. Ties go to the first row,
    so sorted rows give the same examples.
    """
    if not len(claims):
        return []
    _, distances = centroid_of(claims)
    chosen = [int(distances.argmin())]
    nearest = 1 - claims @ claims[chosen[0]]
    while len(chosen) < min(number, len(claims)) and nearest.max() > same:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, 1 - claims @ claims[chosen[-1]])
    return chosen
