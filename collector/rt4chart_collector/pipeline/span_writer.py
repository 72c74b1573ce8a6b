"""Stores the spans of a stream before they are verified, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.kafka.offset_tracker import MessageId
from rt4chart_collector.ingest.kafka.source import KafkaMessage

# Retried for ever: the offsets of these messages cannot be committed before their spans are stored.
RETRY_S = 2.0
UNFIT = "a value does not fit its column of the store"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DecodedMessage:
    """A message with its spans; `size` is the approximate memory of the spans in bytes."""

    id: MessageId
    message: KafkaMessage
    spans: Sequence[SpanRecord]
    size: int


class SpanWriter:
    """Stores batches in order, and retries each until it is stored; `run` is a thread's life."""

    def __init__(self, insert: Callable[[Sequence[SpanRecord]], None]) -> None:
        """`insert` stores a batch, and must store a batch that comes twice only once."""
        self._insert = insert
        self._changed = threading.Condition()
        self._waiting: deque[Sequence[DecodedMessage]] = deque()
        self._results: list[tuple[DecodedMessage, bool]] = []
        self._stopping = threading.Event()

    def offer(self, batch: Sequence[DecodedMessage]) -> None:
        """Queue the spans of these messages for one insert."""
        with self._changed:
            self._waiting.append(batch)
            self._changed.notify()

    def take_results(self) -> Sequence[tuple[DecodedMessage, bool]]:
        """The messages finished since the last call; False for those that can never be stored."""
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

    def _store(self, batch: Sequence[DecodedMessage]) -> list[tuple[DecodedMessage, bool]]:
        while not self._stopping.is_set():
            try:
                self._insert([span for message in batch for span in message.spans])
            except InputError:
                if len(batch) == 1:
                    return [(batch[0], False)]
                # One message's bad value must not cost the others their spans.
                return [result for message in batch for result in self._store([message])]
            except StoreError as error:
                log.warning("spans of %d messages not stored, will retry: %s", len(batch), error)
                self._stopping.wait(RETRY_S)
            else:
                return [(message, True) for message in batch]
        return []
