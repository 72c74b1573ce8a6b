"""The step between ingest and the workers: open traces closed in time, lost ones found again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.exchange.assembly import TraceBuffer
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import (
    PUT_OFF_ANSWERS,
    SPANS_RECOVERED,
    SPANS_STORED,
    UNSAVED_TRACES,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.recovery import Recovery, Retries
from rt4chart_collector.pipeline.trace_queue import TraceQueue

TICK_S = 0.1

log = logging.getLogger(__name__)


class Assembler:
    """Owns the buffer of open traces; `accept` is for the writer's thread, `run` is its own."""

    def __init__(
        self,
        buffer: TraceBuffer,
        queue: TraceQueue,
        recovery: Recovery,
        retries: Retries,
        breaker: Breaker,
        metrics: ServiceMetrics,
        *,
        clock: Clock,
    ) -> None:
        """Starts with a search for what an earlier process left undecided."""
        self._buffer = buffer
        self._queue = queue
        self._recovery = recovery
        self._retries = retries
        self._breaker = breaker
        self._metrics = metrics
        self._clock = clock
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._lost = 0

    @property
    def open_traces(self) -> int:
        """The number of traces that wait for more spans."""
        return len(self._buffer)

    @property
    def buffer_bytes(self) -> int:
        """About what they take in memory."""
        return self._buffer.size

    @property
    def evicted_traces(self) -> int:
        """The traces given up for want of memory; the store has them, and they are found again."""
        return self._buffer.evicted_traces

    @property
    def is_recovering(self) -> bool:
        """True while traces from before the start, or lost ones, are still being looked for."""
        return self._recovery.is_running or self._given_back > self._lost

    def accept(self, spans: Sequence[SpanRecord]) -> None:
        """Take in spans that are stored."""
        self._metrics.add(SPANS_STORED, number=len(spans))
        with self._lock:
            self._buffer.add(spans, self._clock())

    def run(self) -> None:
        """Close traces as they fall quiet; once stopped, hand over every open one as it is."""
        while not self._stopping.wait(TICK_S):
            self.step()
        with self._lock:
            self._queue.put(self._buffer.close_all())

    def step(self) -> None:
        """One tick: recover a page where there is room, then hand over what is due."""
        try:
            self._recover()
        except StoreError as error:
            log.warning("the store cannot be searched now, again later: %s", error)
            self._recovery.postpone(self._clock())
        with self._lock:
            self._queue.put(self._buffer.close(self._clock(), self._queue.room))

    def stop(self) -> None:
        """Let `run` end; nothing may be accepted any more."""
        self._stopping.set()

    @property
    def _given_back(self) -> int:
        """How often something was left to be found in the store."""
        counted = self._metrics.total(UNSAVED_TRACES) + self._metrics.total(PUT_OFF_ANSWERS)
        return self._buffer.evicted_traces + counted

    def _recover(self) -> None:
        if not self._buffer.has_room:
            return
        if self._breaker.is_paused:
            # What is found now would only be put off again.
            self._retries.count(self._clock())
            return
        given_back = self._given_back
        if given_back > self._lost:
            self._lost = given_back
            self._recovery.request(self._clock())
        if self._queue.room:
            # Only this thread hands traces over: what is decided meanwhile was there before.
            handed_over = self._queue.trace_ids
            recovered = self._recovery.page(
                self._clock(),
                is_in_hand=lambda one: one in self._buffer or one in handed_over,
            )
            retried = self._retries.page(self._clock())
            self._metrics.add(SPANS_RECOVERED, number=len(recovered))
            with self._lock:
                self._buffer.add([*recovered, *retried], self._clock())
