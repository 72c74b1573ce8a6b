"""Failures that belong to no issue yet: all are counted, of each partition a bounded part is kept.

What is kept is drawn by chance that is the same in every run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from heapq import heappush, heapreplace

from rt4chart_collector.store.engine.columns import Key, Partition
from rt4chart_collector.store.issues.match_failures import UnplacedFailure

_Drawn = tuple[int, Key, UnplacedFailure]


class Pool:
    """Failures by partition; `room` says how many of a partition's are kept."""

    def __init__(self, room: Callable[[Partition], int]) -> None:
        """Nothing is in it yet."""
        self._room = room
        self._counts: Counter[Partition] = Counter()
        self._kept: defaultdict[Partition, list[_Drawn]] = defaultdict(list)

    def __len__(self) -> int:
        """All failures that were put in."""
        return self._counts.total()

    def put(self, found: Iterable[UnplacedFailure]) -> None:
        """Count the failures, and keep those with the lowest draws."""
        for one in found:
            self._counts[one.partition] += 1
            kept = self._kept[one.partition]
            # The heap's first is the highest draw: the one to give way.
            drawn = (-one.draw, one.key, one)
            if len(kept) < self._room(one.partition):
                heappush(kept, drawn)
            elif drawn > kept[0]:
                heapreplace(kept, drawn)

    def count(self, partition: Partition) -> int:
        """How many failures of the partition were put in."""
        return self._counts[partition]

    def partitions(self, least: int) -> list[Partition]:
        """The partitions with at least so many failures, in order."""
        return sorted(one for one, count in self._counts.items() if count >= least)

    def kept(self, partition: Partition) -> list[UnplacedFailure]:
        """What is kept of a partition, in the order of the keys."""
        return sorted((one for _, _, one in self._kept[partition]), key=lambda one: one.key)
