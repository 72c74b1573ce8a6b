"""Issue ids, which follow from the failures that an issue was created from, not from chance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from otel_rt4chart.verify.findings.failure_kinds import pattern_of_fingerprint
from rt4chart_collector.store.engine.columns import Partition
from rt4chart_collector.store.issues.issues import Issue


def derive_issue_id(partition: Partition, *seed: object) -> int:
    """The id that follows from the partition, and from a seed if it holds several issues."""
    digest = hashlib.sha256("\x1f".join(map(str, (*partition, *seed))).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def without_version(partition: Partition) -> Partition:
    """The partition with the pattern alone: a new version of the rules must not make a new issue.

    The same in SQL is `PATTERN` in `match_failures`.
    """
    service, route, fingerprint = partition
    return (service, route, pattern_of_fingerprint(fingerprint))


def nearest_issue(centroid: Sequence[float], known: Iterable[Issue]) -> tuple[float, Issue] | None:
    """The cosine similarity and the issue with the nearest centroid; of equals the lowest id.

    Only centroids of the same width can be compared. None if there is none.
    """
    near = (
        (float(np.dot(centroid, issue.centroid)), issue)
        for issue in known
        if len(issue.centroid) == len(centroid)
    )
    return max(near, key=lambda pair: (pair[0], -pair[1].id), default=None)
