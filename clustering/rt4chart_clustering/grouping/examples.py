"""Which members of an issue to show: the most typical claim, then claims unlike those shown."""

from __future__ import annotations

import numpy as np

from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.engine import middle

# Cosine distances up to this are rounding: the same words.
SAME = 1e-3


def examples(claims: Matrix, *, number: int, same: float = SAME) -> list[int]:
    """Rows of the claims' vectors: the medoid, then each time the one farthest from all chosen.

    What is within `same` (cosine distance) of a chosen one is not repeated; ties go to the first
    row, so sorted rows give the same examples.
    """
    if not len(claims):
        return []
    _, distances = middle(claims)
    chosen = [int(distances.argmin())]
    nearest = 1 - claims @ claims[chosen[0]]
    while len(chosen) < min(number, len(claims)) and nearest.max() > same:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, 1 - claims @ claims[chosen[-1]])
    return chosen
