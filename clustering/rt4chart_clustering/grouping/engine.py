"""HDBSCAN as the clustering algorithm, with its thresholds."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from rt4chart_clustering.core.defaults import MIN_SIZE
from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.algorithm import Group, Thresholds, group_of

Labels = NDArray[np.int64]
NOISE = -1
# More samples smooth the density and merge small issues: on 10,000 vectors with 74 groups, 5 find
# all of them (ARI 1.0), 15 find 69 (ARI .85). scikit-learn counts the row itself among them.
_MIN_SAMPLES = 5
# Within one fingerprint, a radius of .40 gained nothing that could be measured, and a failure that
# is left out waits for a cluster of its own.
_MEMBER_DISTANCE = 0.45
# The least mean cosine similarity of a row to the other rows of its cluster. The distance from the
# centroid cannot replace it: each row draws the centroid to itself, most in a small cluster.
_MIN_SIMILARITY = 0.4
# Brute force keeps a square matrix: 1.6 GB at 10,000 rows. A larger pool is sampled.
_MAX_ROWS = 10_000


class HdbscanGrouping:
    """HDBSCAN with a second look at every cluster. It keeps no state between calls."""

    def __init__(self, min_size: int = MIN_SIZE) -> None:
        """`min_size` failures make an issue."""
        self.thresholds = Thresholds(
            min_size=min_size,
            max_rows=_MAX_ROWS,
            member_distance=_MEMBER_DISTANCE,
            same_similarity=0.75,
            stable_similarity=0.9,
            subgroup_parts=10,
        )

    def group(self, vectors: Matrix, *, min_size: int = 0) -> list[Group]:
        """The clusters in the order of their labels."""
        labels = self.labels(vectors, min_size=min_size)
        found = sorted(set(labels.tolist()) - {NOISE})
        return [group_of(vectors, np.flatnonzero(labels == label)) for label in found]

    def labels(self, vectors: Matrix, *, min_size: int = 0) -> Labels:
        """A label for each row, -1 for noise; a row of zeros is noise."""
        size = max(min_size, self.thresholds.min_size, 2)  # HDBSCAN takes no smaller clusters
        labels = np.full(len(vectors), NOISE, dtype=np.int64)
        rows = np.flatnonzero(np.linalg.norm(vectors, axis=1) > 0)
        if len(rows) >= size:
            labels[rows] = _similar_rows(vectors[rows], _dense_rows(vectors[rows], size), size)
        return labels


def _dense_rows(vectors: Matrix, size: int) -> Labels:
    """HDBSCAN's clusters; if there are none, the clusters of its tree cut at one distance.

    HDBSCAN compares splits with each other, so it cannot find a single cluster that holds all rows.
    """
    # Imported here for the reason that `embedding` gives.
    from sklearn.cluster import HDBSCAN

    # No reduction of dimensions before: below 100 dimensions clusters merge, and UMAP puts nine of
    # ten noise rows into clusters. Up to the most rows of one call, brute force is fast enough.
    fitted = HDBSCAN(
        min_cluster_size=size,
        min_samples=min(_MIN_SAMPLES, size, len(vectors)),
        algorithm="brute",
        copy=True,
    )
    with warnings.catch_warnings():
        # Identical rows are infinitely dense, and the algorithm divides by their distance.
        warnings.simplefilter("ignore", RuntimeWarning)
        labels = fitted.fit_predict(vectors)
        if (labels == NOISE).all():
            # For rows of length 1, the squared Euclidean distance is twice the cosine distance.
            cut = float(np.sqrt(2 * _MEMBER_DISTANCE))
            labels = fitted.dbscan_clustering(cut, min_cluster_size=size)
    return np.where(labels < 0, NOISE, labels).astype(np.int64)


def _similar_rows(vectors: Matrix, labels: Labels, size: int) -> Labels:
    """The clusters without their dissimilar rows; a cluster that becomes too small is noise.

    HDBSCAN is relative: beside one dense cluster it makes another one of all scattered rows.
    """
    kept = np.full(len(labels), NOISE, dtype=np.int64)
    for label in sorted(set(labels.tolist()) - {NOISE}):
        rows = np.flatnonzero(labels == label)
        members = vectors[rows]
        similarity = (members @ members.sum(axis=0) - 1) / (len(rows) - 1)
        inside = rows[similarity >= _MIN_SIMILARITY]
        if len(inside) >= size:
            kept[inside] = label
    return kept
