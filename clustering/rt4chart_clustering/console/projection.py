"""Vectors as points of a plane: the two directions in which they differ most (PCA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Plane:
    """A point for each vector, and the share of all variance that each of the two axes shows."""

    points: tuple[tuple[float, float], ...]
    shares: tuple[float, float]


def plane_of(vectors: Sequence[Sequence[float]]) -> Plane:
    """The same for the same vectors, in any order of them; equal vectors are one point.

    Axes are the eigenvectors of the covariance with the largest eigenvalues; the largest part of
    each is positive, which an eigenvector leaves open. Vectors have one width.
    """
    rows = np.array(vectors, dtype=np.float64)
    if rows.size == 0:
        return Plane(tuple((0.0, 0.0) for _ in vectors), (0.0, 0.0))
    rows -= rows.mean(axis=0)
    values, axes = np.linalg.eigh(rows.T @ rows)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.pad(axes, ((0, 0), (0, 1)))
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    # What the sum's order leaves of a difference is no position.
    at = np.round(rows @ axes, 6) + 0.0
    whole = float(values.sum())
    first, second = (float(one) / whole if whole > 1e-12 else 0.0 for one in [*values, 0.0][:2])
    return Plane(tuple((float(x), float(y)) for x, y in at), (first, second))
