"""A log in memory behind the same seam as Kafka, that a test moves by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from rt4chart_collector.ingest.kafka.source import KafkaMessage, RebalanceListener, SourceError


class MemorySource:
    """Keeps messages and positions; partitions come and go when a test says so."""

    def __init__(self, partitions: int = 2) -> None:
        self.partitions = partitions
        self.log: defaultdict[int, list[bytes]] = defaultdict(list)
        self.committed: dict[int, int] = {}
        self.paused: set[int] = set()
        self.buried: list[tuple[KafkaMessage, str]] = []
        self.can_bury = True
        self._next: dict[int, int] = {}
        self._listener: RebalanceListener | None = None

    def send(self, partition: int, body: bytes) -> None:
        """Append a message."""
        self.log[partition].append(body)

    def subscribe(self, listener: RebalanceListener) -> None:
        """Every partition is assigned to the listener."""
        self._listener = listener
        self.give(*range(self.partitions))

    def give(self, *partitions: int) -> None:
        """These partitions come, at their committed positions."""
        assert self._listener is not None
        self._next |= {one: self.committed.get(one, 0) for one in partitions}
        self._listener.assigned(partitions)

    def take_away(self, *partitions: int) -> None:
        """These go to another, politely."""
        assert self._listener is not None
        self.commit(self._listener.revoked(partitions))
        self._without(partitions)

    def lose(self, *partitions: int) -> None:
        """These are another's already."""
        assert self._listener is not None
        self._listener.lost(partitions)
        self._without(partitions)

    def rewind(self, partition: int) -> None:
        """The log was made anew: it is read from its beginning, and nothing of it is committed."""
        self._next[partition] = 0
        self.committed.pop(partition, None)

    def poll(self, limit: int, timeout_s: float) -> Sequence[KafkaMessage]:
        """What follows in the partitions that are not paused."""
        found: list[KafkaMessage] = []
        for partition in sorted(self._next.keys() - self.paused):
            start = self._next[partition]
            for offset, body in list(enumerate(self.log[partition]))[start : start + limit]:
                found.append(KafkaMessage(partition, offset, body))
                self._next[partition] = offset + 1
        return found

    def commit(self, positions: Mapping[int, int], *, wait: bool = False) -> None:
        """Positions never go back."""
        for partition, position in positions.items():
            assert position >= self.committed.get(partition, 0)
            self.committed[partition] = position

    def pause(self, partitions: Collection[int]) -> None:
        """Nothing more of these."""
        self.paused |= set(partitions)

    def resume(self, partitions: Collection[int]) -> None:
        """Again."""
        self.paused -= set(partitions)

    def end_offsets(self, partitions: Collection[int]) -> Mapping[int, int]:
        """The lengths."""
        return {one: len(self.log[one]) for one in partitions}

    def send_dead_letter(self, message: KafkaMessage, reason: str) -> None:
        """Put it aside, where that is possible."""
        if not self.can_bury:
            raise SourceError("no topic for dead letters")
        self.buried.append((message, reason))

    def close(self) -> None:
        """Nothing is left to do."""

    def _without(self, partitions: Collection[int]) -> None:
        for one in partitions:
            self._next.pop(one, None)
            self.paused.discard(one)
