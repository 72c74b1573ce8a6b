"""HDBSCAN over what the rules do not explain."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN

from rt4chart_clustering.description.embedding import Matrix

Labels = NDArray[np.int64]
NOISE = -1
MIN_SAMPLES = 5
# The cosine distance from a cluster's middle within which a claim says the same.
RADIUS = 0.45
# How alike, by cosine, a row must be to the other rows of its cluster on average. The distance from
# the middle will not do: each row draws the middle to itself, the more the fewer there are.
ALIKE = 0.4
# Brute force keeps a square matrix, at 10,000 rows 1.6 GB: whoever has more draws from them.
MAX_ROWS = 10_000


def cluster(vectors: Matrix, *, min_size: int) -> Labels:
    """A label a row, -1 for noise: what belongs to nothing is no issue yet.

    Rows have length 1, or 0 for a text without words, which is noise; `MAX_ROWS` of them at most.
    Deterministic: the same rows in the same order get the same labels.
    """
    labels = np.full(len(vectors), NOISE, dtype=np.int64)
    size = max(min_size, 2)
    rows = np.flatnonzero(np.linalg.norm(vectors, axis=1) > 0)
    if len(rows) >= size:
        labels[rows] = _tight(vectors[rows], _dense(vectors[rows], size), size)
    return labels


def middle(vectors: Matrix) -> tuple[Matrix, NDArray[np.float32]]:
    """The unit centroid of some rows, and each row's cosine distance from it."""
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    centroid = (mean / length if length else mean).astype(np.float32)
    return centroid, (1 - vectors @ centroid).astype(np.float32)


def _dense(vectors: Matrix, size: int) -> Labels:
    """HDBSCAN's clusters; where it finds none, those of the same tree cut at the radius.

    It weighs splits against each other, so it cannot see a single cluster that is all there is.
    """
    fitted = HDBSCAN(
        min_cluster_size=size,
        min_samples=min(MIN_SAMPLES, size, len(vectors)),
        algorithm="brute",
        copy=True,
    )
    with warnings.catch_warnings():
        # Identical rows are infinitely dense, which the algorithm divides by.
        warnings.simplefilter("ignore", RuntimeWarning)
        labels = fitted.fit_predict(vectors)
        if (labels == NOISE).all():
            # For rows of length 1, the square of the distance is twice the cosine distance.
            cut = float(np.sqrt(2 * RADIUS))
            labels = fitted.dbscan_clustering(cut, min_cluster_size=size)
    return np.where(labels < 0, NOISE, labels).astype(np.int64)


def _tight(vectors: Matrix, labels: Labels, size: int) -> Labels:
    """The clusters without the rows unlike the others; one that gets too small is noise.

    HDBSCAN is relative: beside one dense cluster it makes another of all that is scattered.
    """
    kept = np.full(len(labels), NOISE, dtype=np.int64)
    for label in sorted(set(labels.tolist()) - {NOISE}):
        rows = np.flatnonzero(labels == label)
        together = vectors[rows]
        likeness = (together @ together.sum(axis=0) - 1) / (len(rows) - 1)
        inside = rows[likeness >= ALIKE]
        if len(inside) >= size:
            kept[inside] = label
    return kept
