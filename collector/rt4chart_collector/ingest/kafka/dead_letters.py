"""The queue of unreadable messages that are written to a dead-letter topic."""

from __future__ import annotations

import logging
from collections import deque

from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.core.instruments import KAFKA_MESSAGES
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.kafka.offset_tracker import MessageId, OffsetTracker
from rt4chart_collector.ingest.kafka.source import KafkaMessage, SourceError, SpanSource

RETRY_NS = 30 * 10**9
# Each attempt waits for the broker, and the stream must be polled in between.
BATCH = 16
OVERHEAD_BYTES = 1_000
log = logging.getLogger(__name__)


class DeadLetterQueue:
    """Messages to write to the dead-letter topic; their offsets are not committed before.

    A failing topic therefore stops the commits of a partition, but not the verification.
    """

    def __init__(
        self, source: SpanSource, offsets: OffsetTracker, metrics: ServiceMetrics, *, clock: Clock
    ) -> None:
        """The queue is empty."""
        self._source = source
        self._offsets = offsets
        self._metrics = metrics
        self._clock = clock
        self._waiting: deque[tuple[KafkaMessage, str, MessageId]] = deque()
        self._not_before = 0
        self.size = 0

    def add(self, message: KafkaMessage, reason: str, message_id: MessageId) -> None:
        """Queue a message; `reason` quotes nothing of its content."""
        self._waiting.append((message, reason, message_id))
        self.size += len(message.body) + OVERHEAD_BYTES

    def step(self) -> None:
        """Write some messages; after a failure, nothing is tried for a while."""
        for _ in range(min(BATCH, len(self._waiting))):
            if self._clock() < self._not_before:
                return
            message, reason, message_id = self._waiting[0]
            if self._offsets.is_live(message_id) and not self._is_sent(message, reason):
                return
            self._waiting.popleft()
            self.size -= len(message.body) + OVERHEAD_BYTES
            self._offsets.finish_part(message_id)

    def _is_sent(self, message: KafkaMessage, reason: str) -> bool:
        place = f"partition {message.partition}, offset {message.offset}"
        try:
            self._source.send_dead_letter(message, reason)
        except SourceError as error:
            self._not_before = self._clock() + RETRY_NS
            self._metrics.add(KAFKA_MESSAGES, "unburied")
            log.error(
                "a message could not be written to the dead letters, will retry: %s: %s",
                place,
                error,
            )
            return False
        self._metrics.add(KAFKA_MESSAGES, "buried")
        log.warning("a message was written to the dead letters: %s: %s", place, reason)
        return True
