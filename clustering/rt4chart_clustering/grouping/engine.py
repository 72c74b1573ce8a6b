"""HDBSCAN as the clustering algorithm, with its thresholds."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rt4chart_clustering.core.defaults import MIN_SIZE
from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.algorithm import Group, SoftGroups, Thresholds, group_of

if TYPE_CHECKING:
    from hdbscan import HDBSCAN

# It takes a second of CPU to import with scikit-learn, and most commands group nothing: it is
# imported where it is used. A command without it still fails at the start, with what to install.
if find_spec("hdbscan") is None:
    raise ModuleNotFoundError("No module named 'hdbscan'", name="hdbscan")

Labels = NDArray[np.int64]
NOISE = -1
# More samples smooth the density and merge small issues: on 10,000 vectors with 74 groups, 5 find
# all of them (ARI 1.0), 15 find 69 (ARI .85). The row itself counts; the library does not count it.
_MIN_SAMPLES = 5
# Within one fingerprint, a radius of .40 gained nothing that could be measured, and a failure that
# is left out waits for a cluster of its own.
_MEMBER_DISTANCE = 0.45
# The least mean cosine similarity of a row to the other rows of its cluster. The distance from the
# centroid cannot replace it: each row draws the centroid to itself, most in a small cluster.
_MIN_SIMILARITY = 0.4
# Brute force keeps a square matrix: 1.8 GB at 10,000 rows. A larger pool is sampled.
_MAX_ROWS = 10_000
# Soft membership holds every row against every cluster's exemplars: 3.8 CPU s at 4,000 rows and 74
# clusters, after .6 s for the clusters; a quarter of that at 2,000.
_MAX_SOFT_ROWS = 2_000


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
            max_soft_rows=_MAX_SOFT_ROWS,
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

    def soft_groups(self, vectors: Matrix) -> SoftGroups:
        """How much each row belongs to each cluster; no clusters if there are fewer than two."""
        from hdbscan import all_points_membership_vectors

        size, count = max(self.thresholds.min_size, 2), len(vectors)
        if count < size:
            return SoftGroups(np.zeros((count, 0), np.float32), np.zeros(count, np.float32))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            fitted = _fit(vectors, size)
            clusters = int(fitted.labels_.max()) + 1
            if clusters < 2:
                return SoftGroups(np.zeros((count, 0), np.float32), _outliers(fitted))
            fitted.generate_prediction_data()
            shares = all_points_membership_vectors(fitted).reshape(count, clusters)
        # Rows at an infinite density are the middle of their cluster, and divide by zero.
        middle = np.eye(clusters)[np.maximum(fitted.labels_, 0)]
        shares = np.where(np.isfinite(shares), shares, middle)
        return SoftGroups(shares.astype(np.float32), _outliers(fitted))


def _dense_rows(vectors: Matrix, size: int) -> Labels:
    """HDBSCAN's clusters; if there are none, the clusters of its tree cut at one distance.

    HDBSCAN compares splits with each other, so it cannot find a single cluster that holds all rows.
    """
    with warnings.catch_warnings():
        # Identical rows are infinitely dense, and the algorithm divides by their distance.
        warnings.simplefilter("ignore", RuntimeWarning)
        fitted = _fit(vectors, size)
        labels = fitted.labels_
        if (labels == NOISE).all():
            # For rows of length 1, the squared Euclidean distance is twice the cosine distance.
            cut = float(np.sqrt(2 * _MEMBER_DISTANCE))
            labels = fitted.dbscan_clustering(cut, min_cluster_size=size)
    return np.where(labels < 0, NOISE, labels).astype(np.int64)


def _fit(vectors: Matrix, size: int) -> HDBSCAN:
    """No reduction of dimensions before: below 100 dimensions clusters merge.

    UMAP puts nine of ten noise rows into clusters. Up to the most rows of one call, brute force is
    faster than trees in so many dimensions.
    """
    from hdbscan import HDBSCAN

    return HDBSCAN(
        min_cluster_size=size,
        min_samples=min(_MIN_SAMPLES, size, len(vectors)) - 1,
        algorithm="generic",
        core_dist_n_jobs=1,
    ).fit(vectors.astype(np.float64))


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


def _outliers(fitted: HDBSCAN) -> Matrix:
    """GLOSH scores from 0 to 1; a row at an infinite density has none, and is no outlier."""
    scores: Matrix = np.nan_to_num(fitted.outlier_scores_, nan=0.0).astype(np.float32)
    return scores
