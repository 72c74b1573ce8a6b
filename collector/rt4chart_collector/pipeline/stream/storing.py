"""The spans of a stream, stored before they are judged, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.kafka.offsets import Mark
from rt4chart_collector.ingest.kafka.source import Message

PAUSE_S = 2.0
UNFIT = "a value does not fit its column of the store"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that was read; `size` is about what its spans take in memory."""

    mark: Mark
    message: Message
    spans: Sequence[SpanRecord]
    size: int


class Storing:
    """Stores batches in turn, each until it is stored; `run` is one thread's whole life."""

    def __init__(self, insert: Callable[[Sequence[SpanRecord]], None]) -> None:
        """`insert` stores a batch; the same batch twice is to be stored once."""
        self._insert = insert
        self._changed = threading.Condition()
        self._waiting: deque[Sequence[Arrival]] = deque()
        self._done: list[tuple[Arrival, bool]] = []
        self._stopping = threading.Event()

    def offer(self, batch: Sequence[Arrival]) -> None:
        """Store these messages' spans in one insert."""
        with self._changed:
            self._waiting.append(batch)
            self._changed.notify()

    def done(self) -> Sequence[tuple[Arrival, bool]]:
        """What was dealt with since, with whether it is stored: else it never can be."""
        with self._changed:
            done, self._done = self._done, []
        return done

    def stop(self) -> None:
        """Let `run` end; what is not stored comes again."""
        self._stopping.set()
        with self._changed:
            self._changed.notify()

    def run(self) -> None:
        """Store until stopped."""
        while batch := self._next():
            done = self._stored(batch)
            with self._changed:
                self._done.extend(done)

    def _next(self) -> Sequence[Arrival]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping.is_set())
            return () if self._stopping.is_set() else self._waiting.popleft()

    def _stored(self, batch: Sequence[Arrival]) -> list[tuple[Arrival, bool]]:
        while not self._stopping.is_set():
            try:
                self._insert([span for one in batch for span in one.spans])
            except InputError:
                if len(batch) == 1:
                    return [(batch[0], False)]
                # One message's bad value must not cost the others their spans.
                return [done for one in batch for done in self._stored([one])]
            except StoreError as error:
                log.warning("%d messages' spans not stored, again soon: %s", len(batch), error)
                self._stopping.wait(PAUSE_S)
            else:
                return [(one, True) for one in batch]
        return []
