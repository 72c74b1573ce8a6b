"""Failures that belong to no issue yet: all are counted, and a bounded sample of each is kept.

The sample is random but the same in every run, so that the same failures give the same issues.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from heapq import heappush, heapreplace

from rt4chart_collector.store.engine.columns import ClaimKey, Partition
from rt4chart_collector.store.issues.match_failures import UnassignedFailure

_HeapItem = tuple[int, ClaimKey, UnassignedFailure]


class UnassignedPool:
    """Failures by partition; `limit` says how many of a partition are kept."""

    def __init__(self, limit: Callable[[Partition], int]) -> None:
        """The pool starts empty."""
        self._limit = limit
        self._counts: Counter[Partition] = Counter()
        self._kept: defaultdict[Partition, list[_HeapItem]] = defaultdict(list)

    def __len__(self) -> int:
        """The number of failures that were put in, kept or not."""
        return self._counts.total()

    def put(self, failures: Iterable[UnassignedFailure]) -> None:
        """Count the failures, and keep those with the lowest draws."""
        for failure in failures:
            self._counts[failure.partition] += 1
            kept = self._kept[failure.partition]
            # The draw is negated: heapq keeps the smallest item first, and the highest draw must
            # be the first to be replaced.
            item = (-failure.draw, failure.key, failure)
            if len(kept) < self._limit(failure.partition):
                heappush(kept, item)
            elif item > kept[0]:
                heapreplace(kept, item)

    def count(self, partition: Partition) -> int:
        """How many failures of the partition were put in."""
        return self._counts[partition]

    def partitions(self, least: int) -> list[Partition]:
        """The partitions with at least so many failures, sorted."""
        return sorted(partition for partition, count in self._counts.items() if count >= least)

    def kept(self, partition: Partition) -> list[UnassignedFailure]:
        """The kept failures of a partition, in the order of their keys."""
        return sorted((item[2] for item in self._kept[partition]), key=lambda one: one.key)
