"""Chooses the claims to show: the most typical one, then claims that differ from those chosen."""

from __future__ import annotations

import numpy as np

from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.algorithm import centroid_of

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
