"""Messages that cannot be read: put aside for people, and never in the way of the others."""

from __future__ import annotations

import logging
from collections import deque

from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.core.instruments import KAFKA_MESSAGES
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.kafka.offsets import Mark, Offsets
from rt4chart_collector.ingest.kafka.source import Message, Source, SourceError

PAUSE_NS = 30 * 10**9
# An attempt waits for the broker, and the stream must be polled meanwhile.
AT_ONCE = 16
OVERHEAD = 1_000
log = logging.getLogger(__name__)


class Poison:
    """What waits to be put aside; until it is, its offset is not committed."""

    def __init__(
        self, source: Source, offsets: Offsets, metrics: ServiceMetrics, *, clock: Clock
    ) -> None:
        """Nothing waits."""
        self._source = source
        self._offsets = offsets
        self._metrics = metrics
        self._clock = clock
        self._waiting: deque[tuple[Message, str, Mark]] = deque()
        self._not_before = 0
        self.size = 0

    def add(self, message: Message, reason: str, mark: Mark) -> None:
        """This one cannot be read; the reason quotes nothing of it."""
        self._waiting.append((message, reason, mark))
        self.size += len(message.body) + OVERHEAD

    def step(self) -> None:
        """Put some aside; after a failure not before a pause."""
        for _ in range(min(AT_ONCE, len(self._waiting))):
            if self._clock() < self._not_before:
                return
            message, reason, mark = self._waiting[0]
            if self._offsets.is_live(mark) and not self._is_buried(message, reason):
                return
            self._waiting.popleft()
            self.size -= len(message.body) + OVERHEAD
            self._offsets.finish(mark)

    def _is_buried(self, message: Message, reason: str) -> bool:
        place = f"partition {message.partition}, offset {message.offset}"
        try:
            self._source.bury(message, reason)
        except SourceError as error:
            self._not_before = self._clock() + PAUSE_NS
            self._metrics.add(KAFKA_MESSAGES, "unburied")
            log.error("a message that cannot be read is not committed: %s: %s", place, error)
            return False
        self._metrics.add(KAFKA_MESSAGES, "buried")
        log.warning("a message cannot be read, and was put aside: %s: %s", place, reason)
        return True
