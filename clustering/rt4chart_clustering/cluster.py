"""HDBSCAN over what the rules do not explain."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN

from rt4chart_clustering.embed import Matrix

NOISE = -1
MIN_SAMPLES = 5
# Brute force keeps a square matrix: 10,000 rows are 1.6 GB; what is beyond waits for the next run.
MAX_ROWS = 10_000


def cluster(vectors: Matrix, *, min_size: int) -> NDArray[np.int64]:
    """A label a row, -1 for noise: what belongs to nothing is no issue yet.

    Deterministic; rows of zeros are noise. At most `MAX_ROWS` rows are clustered, the first ones.
    """
    labels = np.full(len(vectors), NOISE, dtype=np.int64)
    rows = np.flatnonzero(np.linalg.norm(vectors, axis=1) > 0)[:MAX_ROWS]
    if len(rows) < max(min_size, 2):
        return labels
    fitted = HDBSCAN(
        min_cluster_size=max(min_size, 2),
        min_samples=min(MIN_SAMPLES, len(rows)),
        algorithm="brute",
        copy=True,
    )
    with warnings.catch_warnings():
        # Identical rows are infinitely dense, which the algorithm divides by.
        warnings.simplefilter("ignore", RuntimeWarning)
        labels[rows] = fitted.fit_predict(vectors[rows])
    return labels


def middle(vectors: Matrix) -> tuple[Matrix, NDArray[np.float32]]:
    """The unit centroid of some rows, and each row's cosine distance from it."""
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    centroid = (mean / length if length else mean).astype(np.float32)
    return centroid, (1 - vectors @ centroid).astype(np.float32)
