"""Asks the store about waiting traces before a worker is free, so that no worker waits for it."""

from __future__ import annotations

import logging
import time
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Condition

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.instruments import FAILURES, UNSAVED_TRACES
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.decision import read_answers
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.route_names import RouteNames
from rt4chart_collector.pipeline.trace_queue import TraceQueue, is_large
from rt4chart_collector.store.answers.dead_letters import DeadLetter, letters_of
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.verdicts import already_decided
from rt4chart_collector.store.engine.columns import AnswerKey
from rt4chart_collector.store.engine.connect import Client

# The traces that are looked up together, and then wait for a worker. Twice as many after a look-up
# that the workers used up within half a second, half as many after one that lasted for two.
LEAST, MOST = 4, 64
QUICK_S, SLOW_S = 0.5, 2.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A leased trace with what the store had of it: its spans, and what is known of its answers.

    `letters` and `before` are this verifier's, of all traces that were looked up together.
    """

    trace: AssembledTrace
    spans: Sequence[SpanRecord]
    answers: Sequence[Candidate]
    letters: Mapping[AnswerKey, DeadLetter]
    before: Mapping[AnswerKey, Decision]
    verifier: Verifier


class LookUps:
    """The statements that say what is to be decided: a few, however many traces they are about."""

    def __init__(
        self,
        saver: OutcomeSaver,
        verifier: CurrentVerifier,
        metrics: ServiceMetrics,
        routes: RouteNames | None = None,
    ) -> None:
        """`saver` ends the lease of traces that cannot be looked up. Threads may share this."""
        self._saver = saver
        self._verifier = verifier
        self._metrics = metrics
        self._routes = routes

    def of(self, client: Client, traces: Sequence[AssembledTrace]) -> list[LookedUp]:
        """What the store has on each trace; none where that failed: their lease is ended."""
        try:
            return self._looked_up(client, traces)
        except Exception as error:  # noqa: BLE001 - thread boundary: the next look-up goes on
            self._metrics.add(UNSAVED_TRACES, number=len(traces))
            self._note(error, f"{len(traces)} traces left undecided, found again later")
            self._saver.finish(traces, {trace.trace_id for trace in traces})
            return []

    def _looked_up(self, client: Client, traces: Sequence[AssembledTrace]) -> list[LookedUp]:
        verifier = self._verifier.get(client)
        spans = _complete(client, traces)
        answers = {trace.trace_id: self._answers(client, spans[trace.trace_id]) for trace in traces}
        letters = letters_of(client, spans, verifier.id)
        found = [candidate for one in answers.values() for candidate in one]
        before = already_decided(client, found, verifier.id)
        return [
            LookedUp(trace, spans[key], answers[key], letters, before, verifier)
            for trace in traces
            for key in (trace.trace_id,)
        ]

    def _answers(self, client: Client, spans: Sequence[SpanRecord]) -> Sequence[Candidate]:
        try:
            answers = read_answers(client, spans)
            return self._routes.named(answers) if self._routes else answers
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad trace must not stop the others
            self._note(error, f"trace {spans[0].trace_id} cannot be read")
            return ()

    def _note(self, error: Exception, what: str) -> None:
        self._metrics.add(FAILURES, type(error).__name__)
        log.error("%s: %s", what, redacted_error(error))


def _complete(client: Client, traces: Sequence[AssembledTrace]) -> dict[str, Sequence[SpanRecord]]:
    """The spans of each trace, with those in the store if it did not arrive whole."""
    parts = sorted({trace.trace_id for trace in traces if not trace.is_whole})
    found: defaultdict[str, dict[str, SpanRecord]] = defaultdict(dict)
    for span in spans_of(client, parts) if parts else ():
        found[span.trace_id][span.span_id] = span
    for trace in traces:
        for span in trace.spans:
            # Another process may store these, and may not have done so yet.
            found[trace.trace_id].setdefault(span.span_id, span)
    return {trace.trace_id: list(found[trace.trace_id].values()) for trace in traces}


class LookAhead:
    """Leases traces from the queue, looks them up, and keeps them ready for the workers.

    One thread runs it. A worker that asked the store by itself would wait for it between two
    answers, with statements of its own for each. Large traces are handed over as they are: reading
    one would hold up the others.
    """

    def __init__(self, client: Client, queue: TraceQueue, look_ups: LookUps) -> None:
        """`client` is for the thread of `run`."""
        self.queue = queue
        self._client = client
        self._look_ups = look_ups
        self._ready: deque[LookedUp | AssembledTrace] = deque()
        self._changed = Condition()
        self._is_over = self._is_abandoned = False

    def run(self) -> None:
        """Keep traces ready until the queue is closed and empty."""
        most, last = LEAST, 0.0
        try:
            while traces := self.queue.lease(self._wait_for_room(most)):
                now = time.monotonic()
                if now - last < QUICK_S:
                    most = min(2 * most, MOST)
                elif now - last > SLOW_S:
                    most = max(most // 2, LEAST)
                last = now
                self._append(
                    traces if is_large(traces[0]) else self._look_ups.of(self._client, traces)
                )
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def take(self) -> LookedUp | AssembledTrace | None:
        """Wait for the next trace; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._is_over)
            taken = self._ready.popleft() if self._ready else None
            self._changed.notify_all()
            return taken

    def abandon(self) -> int:
        """Drop what is ready and what waits; how many traces these and the leased ones were."""
        left = self.queue.abandon()
        with self._changed:
            self._is_abandoned = True
            self._ready.clear()
            self._changed.notify_all()
        return left

    def _append(self, ready: Sequence[LookedUp | AssembledTrace]) -> None:
        with self._changed:
            self._ready.extend(() if self._is_abandoned else ready)
            self._changed.notify_all()

    def _wait_for_room(self, most: int) -> int:
        """Wait until half of what may be ready is taken; how many more may be."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._ready) <= most // 2)
            return most - len(self._ready)
