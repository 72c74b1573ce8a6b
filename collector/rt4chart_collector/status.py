"""What the service says of itself: counts and queues, as JSON."""

from __future__ import annotations

from rt4chart_collector.assembler import Assembler
from rt4chart_collector.breaker import Breaker
from rt4chart_collector.counters import Counters
from rt4chart_collector.ingest import Ingest
from rt4chart_collector.retries import Retries
from rt4chart_collector.trace_queue import TraceQueue


class Status:
    """Reads the parts' figures when asked; any thread may ask."""

    def __init__(
        self,
        counters: Counters,
        ingest: Ingest,
        assembler: Assembler,
        queue: TraceQueue,
        retries: Retries,
        breaker: Breaker,
    ) -> None:
        """The parts to read."""
        self._counters = counters
        self._ingest = ingest
        self._assembler = assembler
        self._queue = queue
        self._retries = retries
        self._breaker = breaker

    def __call__(self) -> dict[str, object]:
        """The figures since the start; `idle` says that nothing is left to do now."""
        # Read in the order in which work moves on, so that none is missed on its way.
        waiting_bytes = self._ingest.size_bytes
        is_recovering = self._assembler.is_recovering
        open_traces = self._assembler.open_traces
        pending = self._queue.pending
        return {
            "spans_stored": self._counters["spans_stored"],
            "spans_lost": self._counters["spans_lost"],
            "spans_recovered": self._counters["spans_recovered"],
            "requests_refused": self._counters.under("refused"),
            "ingest_bytes": waiting_bytes,
            "traces_open": open_traces,
            "traces_waiting": pending,
            "traces_evicted": self._assembler.evicted_traces,
            "traces_unsaved": self._counters["unsaved"],
            "recovering": is_recovering,
            "idle": not (waiting_bytes or is_recovering or open_traces or pending),
            "judging": self._breaker.told,
            "answers_put_off": self._counters["put_off"],
            "retries": self._counters.under("retries"),
            "retries_waiting": self._retries.counts.waiting,
            "dead_letters": dict(self._retries.counts.dead),
            "decisions": self._counters.under("decisions"),
            "labels": self._counters.under("labels"),
            "failures": self._counters.under("failures"),
        }
