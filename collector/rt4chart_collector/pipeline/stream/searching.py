"""Answers whose time to be tried again has come, looked for in a thread of its own."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.recovery import Retries

TICK_S = 1.0
log = logging.getLogger(__name__)


class Searching:
    """Looks every few seconds, while there is room for what is found."""

    def __init__(self, retries: Retries, breaker: Breaker, *, clock: Clock) -> None:
        """Nothing was found."""
        self._retries = retries
        self._breaker = breaker
        self._clock = clock
        self._stopping = threading.Event()
        self._found: queue.SimpleQueue[Sequence[SpanRecord]] = queue.SimpleQueue()
        self.has_room = True

    def found(self) -> Sequence[SpanRecord]:
        """The spans of some traces, none where none were found since."""
        return self._found.get() if not self._found.empty() else ()

    def stop(self) -> None:
        """Let `run` end."""
        self._stopping.set()

    def run(self) -> None:
        """Look until stopped."""
        while not self._stopping.wait(TICK_S):
            try:
                self.step()
            except StoreError as error:
                log.warning("the store cannot be searched now, again later: %s", error)

    def step(self) -> None:
        """Look once; while judging is paused, at the numbers alone."""
        if self._breaker.is_paused or not self.has_room:
            self._retries.count(self._clock())
        elif spans := self._retries.page(self._clock()):
            self._found.put(spans)
