"""A worker and its saver in one thread: what is handled is stored when the call returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from threading import Event

from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.verdict_additions import VerdictAdditions
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.look_ahead import LookUps
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.store.engine.connect import Client


class OneWorker:
    """Works on its own queue, or on a given one."""

    def __init__(
        self,
        client: Client,
        verifier: Verifier | CurrentVerifier,
        clock: Clock,
        *,
        queue: TraceQueue | None = None,
        metrics: ServiceMetrics | None = None,
        breaker: Breaker | None = None,
        sample_rate: float = 1.0,
        additions: VerdictAdditions | None = None,
        giving_up: Event | None = None,
        is_owned: Callable[[str], bool] = lambda trace_id: True,
    ) -> None:
        self.queue = TraceQueue(9) if queue is None else queue
        self.left: list[str] = []
        metrics = metrics or ServiceMetrics()
        current = (
            verifier if isinstance(verifier, CurrentVerifier) else CurrentVerifier(verifier, clock)
        )
        self.saver = OutcomeSaver(
            client,
            self._end_lease,
            metrics,
            clock=clock,
            giving_up=giving_up or Event(),
            is_owned=is_owned,
        )
        self.look_ups = LookUps(self.saver, current, metrics)
        self.worker = Worker(
            client,
            self.queue,
            self.saver,
            self.look_ups,
            metrics,
            breaker or Breaker(current.id, clock),
            sample_rate=sample_rate,
            clock=clock,
            additions=additions,
            is_owned=is_owned,
        )

    def handle(self, traces: Sequence[AssembledTrace]) -> Sequence[str]:
        """Decide on the traces and store it; the ids of those left undecided."""
        self.left = []
        self.worker.handle(traces)
        self.saver.save_waiting()
        return self.left

    def _end_lease(self, traces: Sequence[AssembledTrace], undecided: Collection[str]) -> None:
        self.left += undecided
        self.queue.done(traces, undecided)
