"""Which offsets may be committed: those below which nothing is unfinished; pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

# A mark with its places in a queue and in a dict.
ENTRY = 200


class Mark(NamedTuple):
    """A message's place; `term` tells one reading of the partition from the next."""

    partition: int
    term: int
    offset: int


@dataclass(slots=True)
class _Owned:
    term: int
    committed: int | None = None
    reached: int | None = None
    waiting: deque[Mark] = field(default_factory=deque)
    parts: dict[Mark, int] = field(default_factory=dict)


class Offsets:
    """The unfinished messages of the partitions that are ours.

    A message has parts, and is finished when each is; an offset may be committed when no message
    below it is unfinished. What is finished of a partition that was given up counts for nothing:
    its messages come again, here or elsewhere.
    """

    def __init__(self) -> None:
        """Nothing is ours."""
        self._owned: dict[int, _Owned] = {}
        self._terms = 0

    @property
    def size(self) -> int:
        """About how many bytes the messages take that are unfinished or behind an unfinished."""
        return ENTRY * sum(len(owned.parts) for owned in self._owned.values())

    @property
    def partitions(self) -> frozenset[int]:
        """What is ours."""
        return frozenset(self._owned)

    def assign(self, partitions: Collection[int]) -> None:
        """These are ours from now on; one that is already stays as it is."""
        for partition in partitions:
            if partition not in self._owned:
                self._terms += 1
                self._owned[partition] = _Owned(self._terms)

    def revoke(self, partitions: Collection[int]) -> None:
        """These are ours no more."""
        for partition in partitions:
            self._owned.pop(partition, None)

    def arrive(self, partition: int, offset: int, parts: int) -> Mark | None:
        """A message has come; None where its partition is not ours.

        Offsets rise, but where a log was cut short or made anew: what was read from there on
        counts for nothing then.
        """
        owned = self._owned.get(partition)
        if owned is None:
            return None
        if owned.reached is None:
            # Where it began is where it would begin again.
            owned.committed = offset
        elif offset < owned.reached:
            self._rewind(owned, offset)
        mark = Mark(partition, owned.term, offset)
        owned.waiting.append(mark)
        owned.parts[mark] = parts
        owned.reached = offset + 1
        return mark

    def finish(self, mark: Mark) -> None:
        """One part of a message is dealt with."""
        owned = self._owned.get(mark.partition)
        if owned is not None and mark in owned.parts:
            owned.parts[mark] -= 1

    def is_live(self, mark: Mark) -> bool:
        """True of an unfinished message, until its partition is given up or cut short."""
        owned = self._owned.get(mark.partition)
        return owned is not None and mark in owned.parts

    def positions(self, partitions: Collection[int] | None = None) -> dict[int, int]:
        """The next offset to read after a restart, of each partition where it is known."""
        chosen = self._owned.keys() if partitions is None else partitions & self._owned.keys()
        found = {partition: self._position(self._owned[partition]) for partition in chosen}
        return {
            partition: position for partition, position in found.items() if position is not None
        }

    def uncommitted(self, partitions: Collection[int] | None = None) -> dict[int, int]:
        """The positions that have moved since they were committed."""
        return {
            partition: position
            for partition, position in self.positions(partitions).items()
            if position != self._owned[partition].committed
        }

    def committed(self, positions: dict[int, int]) -> None:
        """These positions are written, or on their way."""
        for partition, position in positions.items():
            if partition in self._owned:
                self._owned[partition].committed = position

    def forget_commits(self) -> None:
        """Let every position be committed once more: of an earlier one it is not known."""
        for owned in self._owned.values():
            owned.committed = None

    def _rewind(self, owned: _Owned, offset: int) -> None:
        self._terms += 1
        owned.term = self._terms
        while owned.waiting and owned.waiting[-1].offset >= offset:
            del owned.parts[owned.waiting.pop()]

    @staticmethod
    def _position(owned: _Owned) -> int | None:
        while owned.waiting and owned.parts[owned.waiting[0]] <= 0:
            del owned.parts[owned.waiting.popleft()]
        return owned.waiting[0].offset if owned.waiting else owned.reached
