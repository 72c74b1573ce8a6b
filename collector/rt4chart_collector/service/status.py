"""What the service says of itself: counts, queues and health, read when somebody asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.metadata import version

from rt4chart_collector.core.counters import Counted, Counters
from rt4chart_collector.ingest.writer import Ingest
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.recovery import Retries
from rt4chart_collector.pipeline.stream.stream import Stream
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.service.health import Health
from rt4chart_collector.telemetry.figures import (
    Figures,
    Judging,
    Opened,
    Queued,
    RouteFigures,
    Waiting,
)


class Status:
    """Reads the parts' figures when asked; any thread may ask. A process may lack any part."""

    def __init__(
        self,
        counters: Counters,
        *,
        ingest: Ingest | None = None,
        assembler: Assembler | None = None,
        queue: TraceQueue | None = None,
        retries: Retries | None = None,
        breaker: Breaker | None = None,
        stream: Stream | None = None,
        health: Health | None = None,
        routes: Callable[[], Sequence[RouteFigures]] = tuple,
    ) -> None:
        """The parts to read; `routes` gives what the monitor saw last."""
        self._routes = routes
        self._counters = counters
        self._ingest = ingest
        self._assembler = assembler
        self._queue = queue
        self._retries = retries
        self._breaker = breaker
        self._stream = stream
        self._version = version("otel-rt4chart")
        self._start_s = time.time()
        self.health = health or Health()

    def figures(self) -> Figures:
        """All figures of this moment."""
        # Read in the order in which work moves on, so that none is missed on its way.
        queued = _queued(self._ingest) if self._ingest else None
        stream = self._stream
        opened = _opened(self._assembler) if self._assembler else None
        queue, breaker, retries = self._queue, self._breaker, self._retries
        return Figures(
            version=self._version,
            start_s=self._start_s,
            reasons=self.health.reasons,
            queued=queued,
            streamed=stream.streamed if stream else None,
            opened=stream.opened if stream else opened,
            waiting=Waiting(queue.pending, queue.limit) if queue else None,
            counted=self._counters.read(),
            judging=Judging(breaker.judge, breaker.told) if breaker else None,
            letters=retries.counts if retries else None,
            routes=tuple(self._routes()),
        )

    def __call__(self) -> dict[str, object]:
        """The figures since the start as JSON; `idle` says that nothing is left to do now."""
        figures = self.figures()
        counted = figures.counted
        told: dict[str, object] = {
            "ready": not figures.reasons,
            "idle": figures.is_idle,
            "spans_stored": counted["spans_stored"],
            "spans_lost": sum(counted.under("spans_lost").values()),
            "spans_recovered": counted["spans_recovered"],
            "requests_refused": refused(counted),
            "traces_unsaved": counted["unsaved"],
            "answers_put_off": counted["put_off"],
            "retries": counted.under("retries"),
            "decisions": counted.under("decisions"),
            "labels": counted.under("labels"),
            "failures": counted.under("failures"),
        }
        if queued := figures.queued:
            told |= {"ingest_bytes": queued.size_bytes}
        if streamed := figures.streamed:
            told |= {
                "partitions": sorted(streamed.partitions),
                "partitions_paused": sorted(streamed.paused),
                "lag": {str(one): lag for one, lag in sorted(streamed.lags.items())},
                "messages": counted.under("kafka"),
            }
        if opened := figures.opened:
            told |= {"traces_open": opened.traces, "traces_evicted": opened.evicted}
            told |= {"recovering": opened.is_recovering}
        if waiting := figures.waiting:
            told |= {"traces_waiting": waiting.traces}
        if judging := figures.judging:
            told |= {"judging": judging.pause}
        if letters := figures.letters:
            told |= {"retries_waiting": letters.waiting, "dead_letters": dict(letters.dead)}
        return told


def refused(counted: Counted) -> dict[str, int]:
    """How many requests were not taken, by what was wrong with them, over all ways in."""
    found: dict[str, int] = {}
    for name, number in counted.under("requests").items():
        result = name.partition(".")[2]
        if result != "accepted":
            found[result] = found.get(result, 0) + number
    return dict(sorted(found.items()))


def _queued(ingest: Ingest) -> Queued:
    return Queued(ingest.size_bytes, ingest.requests, ingest.max_bytes)


def _opened(assembler: Assembler) -> Opened:
    is_recovering = assembler.is_recovering
    return Opened(
        assembler.open_traces, assembler.buffer_bytes, assembler.evicted_traces, is_recovering
    )
