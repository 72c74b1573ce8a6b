"""The offsets that may be committed: those without an unfinished message below them. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

# Approximate memory of one message id in a queue and in a dict.
ENTRY_BYTES = 200


class MessageId(NamedTuple):
    """Identifies a message; `term` distinguishes one assignment of the partition from the next."""

    partition: int
    term: int
    offset: int


@dataclass(slots=True)
class _Owned:
    term: int
    committed: int | None = None
    reached: int | None = None
    waiting: deque[MessageId] = field(default_factory=deque)
    parts: dict[MessageId, int] = field(default_factory=dict)


class OffsetTracker:
    """The unfinished messages of the assigned partitions.

    A message has parts (its traces), and is finished when each of them is. An offset may be
    committed when no message below it is unfinished. Messages of a revoked partition are no longer
    live: they are read again, here or by another member.
    """

    def __init__(self) -> None:
        """No partition is assigned."""
        self._owned: dict[int, _Owned] = {}
        self._terms = 0

    @property
    def size(self) -> int:
        """Approximate memory of the messages that are unfinished or behind an unfinished one."""
        return ENTRY_BYTES * sum(len(owned.parts) for owned in self._owned.values())

    @property
    def partitions(self) -> frozenset[int]:
        """The assigned partitions."""
        return frozenset(self._owned)

    def assign(self, partitions: Collection[int]) -> None:
        """Add partitions; one that is assigned already stays as it is."""
        for partition in partitions:
            if partition not in self._owned:
                self._terms += 1
                self._owned[partition] = _Owned(self._terms)

    def revoke(self, partitions: Collection[int]) -> None:
        """Remove partitions."""
        for partition in partitions:
            self._owned.pop(partition, None)

    def track(self, partition: int, offset: int, parts: int) -> MessageId | None:
        """Begin to track a message; None if its partition is not assigned.

        Offsets rise, unless a log was truncated or created anew: messages read from that offset on
        are then no longer live.
        """
        owned = self._owned.get(partition)
        if owned is None:
            return None
        if owned.reached is None:
            # The group starts here because this is the committed position: nothing to commit yet.
            owned.committed = offset
        elif offset < owned.reached:
            self._rewind(owned, offset)
        message_id = MessageId(partition, owned.term, offset)
        owned.waiting.append(message_id)
        owned.parts[message_id] = parts
        owned.reached = offset + 1
        return message_id

    def finish_part(self, message_id: MessageId) -> None:
        """Mark one part of a message as finished."""
        owned = self._owned.get(message_id.partition)
        if owned is not None and message_id in owned.parts:
            owned.parts[message_id] -= 1

    def is_live(self, message_id: MessageId) -> bool:
        """True of an unfinished message, until its partition is revoked or truncated."""
        owned = self._owned.get(message_id.partition)
        return owned is not None and message_id in owned.parts

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
        """These positions are committed, or a commit is under way."""
        for partition, position in positions.items():
            if partition in self._owned:
                self._owned[partition].committed = position

    def forget_commits(self) -> None:
        """Let every position be committed once more: earlier commits may have failed."""
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
