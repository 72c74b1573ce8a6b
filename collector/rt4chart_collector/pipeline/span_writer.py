"""Stores the spans of a stream before they are verified, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.kafka.offset_tracker import MessageId
from rt4chart_collector.ingest.kafka.source import KafkaMessage

# Retried for ever: the offsets of these messages cannot be committed before their spans are stored.
RETRY_S = 2.0
UNFIT = "a value does not fit its column of the store"
CONFLICT = "partition %d, offset %d: %d spans not stored: their ids are stored with other content"
log = logging.getLogger(__name__)

# A message and those of its spans that are stored; None if it can never be stored.
WrittenMessage = tuple["DecodedMessage", Sequence[SpanRecord] | None]


@dataclass(frozen=True, slots=True)
class DecodedMessage:
    """A message with its spans; `size` is the approximate memory of the spans in bytes."""

    id: MessageId
    message: KafkaMessage
    spans: Sequence[SpanRecord]
    size: int


class SpanWriter:
    """Stores batches in order, and retries each until it is stored; `run` is a thread's life."""

    def __init__(self, insert: Callable[[Sequence[SpanRecord]], Collection[int]]) -> None:
        """`insert` stores a batch, and must store a batch that comes twice only once.

        It returns the positions of the spans that it refuses: they conflict with stored ones.
        """
        self._insert = insert
        self._changed = threading.Condition()
        self._waiting: deque[Sequence[DecodedMessage]] = deque()
        self._results: list[WrittenMessage] = []
        self._stopping = threading.Event()

    def offer(self, batch: Sequence[DecodedMessage]) -> None:
        """Queue the spans of these messages for one insert."""
        with self._changed:
            self._waiting.append(batch)
            self._changed.notify()

    def take_results(self) -> Sequence[WrittenMessage]:
        """The messages finished since the last call."""
        with self._changed:
            results, self._results = self._results, []
        return results

    def stop(self) -> None:
        """End `run`; messages that are not stored are not committed, and are read again."""
        self._stopping.set()
        with self._changed:
            self._changed.notify()

    def run(self) -> None:
        """Store until stopped."""
        while batch := self._next_batch():
            results = self._store(batch)
            with self._changed:
                self._results.extend(results)

    def _next_batch(self) -> Sequence[DecodedMessage]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping.is_set())
            return () if self._stopping.is_set() else self._waiting.popleft()

    def _store(self, batch: Sequence[DecodedMessage]) -> list[WrittenMessage]:
        while not self._stopping.is_set():
            try:
                refused = self._insert([span for message in batch for span in message.spans])
            except InputError:
                if len(batch) == 1:
                    return [(batch[0], None)]
                # One message's bad value must not cost the others their spans.
                return [result for message in batch for result in self._store([message])]
            except StoreError as error:
                log.warning("spans of %d messages not stored, will retry: %s", len(batch), error)
                self._stopping.wait(RETRY_S)
            else:
                return _without_refused(batch, frozenset(refused))
        return []


def _without_refused(
    batch: Sequence[DecodedMessage], refused: frozenset[int]
) -> list[WrittenMessage]:
    """The messages with their stored spans; `refused` are positions in the whole batch."""
    if not refused:
        return [(message, message.spans) for message in batch]
    written: list[WrittenMessage] = []
    first = 0
    for message in batch:
        kept = [span for at, span in enumerate(message.spans, first) if at not in refused]
        first += len(message.spans)
        written.append((message, kept))
        if conflicts := len(message.spans) - len(kept):
            log.warning(CONFLICT, message.message.partition, message.message.offset, conflicts)
    return written
