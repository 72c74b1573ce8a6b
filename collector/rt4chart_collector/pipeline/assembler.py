"""Assembly of traces: collects spans, and hands over each trace when no more spans are expected."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.exchange.assembly import AssembledTrace, TraceBuffer
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import PUT_OFF_ANSWERS, SPANS_RECOVERED, UNSAVED_TRACES
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.recovery import Recovery, Retries
from rt4chart_collector.pipeline.trace_queue import TraceQueue

TICK_S = 0.1

log = logging.getLogger(__name__)


class Assembler:
    """Owns the open traces, and searches the store for traces to verify again.

    `accept` is for any thread. `search` waits for the database, `close_due` never does: a thread
    that must not wait calls `close_due`, and leaves `search` to `run_searches` in another thread.
    """

    def __init__(
        self,
        buffer: TraceBuffer,
        queue: TraceQueue,
        hand_over: Callable[[Sequence[AssembledTrace]], None],
        retries: Retries,
        breaker: Breaker,
        metrics: ServiceMetrics,
        *,
        recovery: Recovery | None = None,
        has_room: Callable[[], bool] | None = None,
        clock: Clock,
    ) -> None:
        """`hand_over` receives closed traces on their way to `queue`, which bounds their number.

        Without `recovery` only answers to retry are searched for. `has_room` says whether memory
        is left for the results of a search; the default is the buffer's own answer.
        """
        self._buffer = buffer
        self._queue = queue
        self._hand_over = hand_over
        self._recovery = recovery
        self._retries = retries
        self._breaker = breaker
        self._metrics = metrics
        self._has_room = has_room or (lambda: buffer.has_room)
        self._clock = clock
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        # How many losses the searches begun so far cover.
        self._searched_losses = 0

    @property
    def open_traces(self) -> int:
        """The number of traces that wait for more spans."""
        return len(self._buffer)

    @property
    def buffer_bytes(self) -> int:
        """Approximate memory of the open traces."""
        return self._buffer.size

    @property
    def evicted_traces(self) -> int:
        """Traces dropped to free memory; the store has them, and recovery finds them again."""
        return self._buffer.evicted_traces

    @property
    def is_recovering(self) -> bool:
        """True while a search for undecided traces is under way or due."""
        if self._recovery is None:
            return False
        return self._recovery.is_running or self._losses > self._searched_losses

    def accept(self, spans: Sequence[SpanRecord]) -> None:
        """Add spans to their traces."""
        with self._lock:
            self._buffer.add(spans, self._clock())

    def close_due(self) -> None:
        """Hand over the traces whose timeouts have passed, as many as the queue has room for."""
        room, admits = self._queue.room, self._queue.admission()
        with self._lock:
            self._hand_over(self._buffer.close(self._clock(), room, admits))

    def drop(self, is_dropped: Callable[[str], bool]) -> Sequence[str]:
        """Forget the open traces for whose ids `is_dropped` returns True; returns the ids."""
        with self._lock:
            dropped = [trace_id for trace_id in self._buffer.open_ids if is_dropped(trace_id)]
            self._buffer.drop(dropped)
        return dropped

    def run(self) -> None:
        """Search and close until stopped, then hand over every open trace as it is."""
        while not self._stopping.wait(TICK_S):
            self.step()
        with self._lock:
            self._hand_over(self._buffer.close_all())

    def step(self) -> None:
        """One tick of `run`."""
        self.search()
        self.close_due()

    def run_searches(self) -> None:
        """Search until stopped; another thread calls `close_due`."""
        while not self._stopping.wait(TICK_S):
            self.search()

    def stop(self) -> None:
        """End `run` or `run_searches`."""
        self._stopping.set()

    def search(self) -> None:
        """Read the next page of traces to verify again from the store."""
        try:
            self._search()
        except StoreError as error:
            log.warning("the store cannot be searched now, next attempt later: %s", error)
            if self._recovery is not None:
                self._recovery.postpone(self._clock())

    def _search(self) -> None:
        if self._breaker.is_paused or not self._has_room() or not self._queue.room:
            # Traces found now would be postponed again or would not fit. The counts for /status and
            # the metrics are refreshed all the same.
            self._retries.count(self._clock())
            return
        if self._recovery is not None:
            self._recover(self._recovery)
        self.accept(self._retries.page(self._clock()))

    def _recover(self, recovery: Recovery) -> None:
        losses = self._losses
        if losses > self._searched_losses:
            self._searched_losses = losses
            recovery.request(self._clock())
        # This set must be read before the search. A trace that is decided during the search was in
        # the queue before it; read afterwards, the set would lack that trace, and it would be
        # verified twice. New traces cannot enter meanwhile: this thread also hands over.
        queued = self._queue.trace_ids
        recovered = recovery.page(
            self._clock(),
            is_in_flight=lambda trace_id: trace_id in self._buffer or trace_id in queued,
        )
        self._metrics.add(SPANS_RECOVERED, number=len(recovered))
        self.accept(recovered)

    @property
    def _losses(self) -> int:
        """How often a trace was left undecided in the store."""
        undecided = self._metrics.total(UNSAVED_TRACES) + self._metrics.total(PUT_OFF_ANSWERS)
        return self._buffer.evicted_traces + undecided
