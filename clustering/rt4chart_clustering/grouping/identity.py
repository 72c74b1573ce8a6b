"""Which id an issue has: a function of what it was born from, never of the moment or of chance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from rt4chart_collector.store.engine.columns import Partition
from rt4chart_collector.store.issues.issues import Issue

# Two groups of one partition are one issue where their middles are this near (cosine).
NEAR = 0.75


def new_id(partition: Partition, *seed: object) -> int:
    """An id that the same failures get in every run: of the pattern, or of a seed in it too."""
    digest = hashlib.sha256("\x1f".join(map(str, (*partition, *seed))).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def unversioned(partition: Partition) -> Partition:
    """The partition without its fingerprint's version: rules that got sharper make no new issue."""
    service, route, fingerprint = partition
    return (service, route, fingerprint.partition(":")[2])


def nearest(centroid: Sequence[float], known: Iterable[Issue]) -> tuple[float, Issue] | None:
    """The issue with the nearest middle and how near (cosine) it is; of equals the lowest id.

    Only middles of the same width can be compared; None where there is none.
    """
    near = (
        (float(np.dot(centroid, one.centroid)), one)
        for one in known
        if len(one.centroid) == len(centroid)
    )
    return max(near, key=lambda pair: (pair[0], -pair[1].id), default=None)
