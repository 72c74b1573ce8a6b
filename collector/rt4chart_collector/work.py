"""The verification workers: traces in, a decision on each of their answers out."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from threading import Event

from otel_rt4chart.deciding import Clock
from otel_rt4chart.errors import StoreError
from otel_rt4chart.spans.assembly import Trace
from otel_rt4chart.spans.carrier import carrier_ids, carrier_span
from otel_rt4chart.spans.exchanges import candidates, links_wanted
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier
from rt4chart_collector.counters import Counters
from rt4chart_collector.decide import decide
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.spans import insert_spans, spans_of
from rt4chart_collector.store.verdicts import PROVISIONAL, already_decided, insert_verdicts
from rt4chart_collector.trace_queue import TraceQueue

TRACES = 64
VERDICTS = 256
FLUSH_NS = 500_000_000
RETRIES_S = (0.1, 0.5, 2.0, 5.0)

log = logging.getLogger(__name__)


class Worker:
    """One thread's work: `run` leases traces until the queue is closed and empty.

    What it could not store stays undecided in the store and is found there
    again; `counters` tells how many (`unsaved`).
    """

    def __init__(
        self,
        client: Client,
        queue: TraceQueue,
        verifier: Verifier,
        counters: Counters,
        *,
        sample_rate: float,
        clock: Clock,
        strict_routes: frozenset[str] = frozenset(),
        giving_up: Event,
    ) -> None:
        """`giving_up` ends the waits between attempts to reach the store."""
        self._client = client
        self._queue = queue
        self._verifier = verifier
        self._counters = counters
        self._sample_rate = sample_rate
        self._strict_routes = strict_routes
        self._version = version("otel-rt4chart")
        self._clock = clock
        self._giving_up = giving_up

    def run(self) -> None:
        """Work until there is nothing more to come."""
        while traces := self._queue.lease(TRACES):
            try:
                self.handle(traces)
            except Exception as error:  # noqa: BLE001 - thread boundary: the worker goes on
                self._counters.add("unsaved", len(traces))
                self._note(error, f"{len(traces)} traces left undecided, found again later")
            finally:
                self._queue.done(traces)

    def handle(self, traces: Sequence[Trace]) -> None:
        """Decide on every answer of the traces that this verifier has not decided on before."""
        verdicts: list[Verdict] = []
        flushed = self._clock()
        for candidate in self._undecided(self._candidates(traces)):
            verdicts.append(
                decide(
                    candidate,
                    self._verifier,
                    rate=self._sample_rate,
                    clock=self._clock,
                    strict=candidate.route in self._strict_routes,
                )
            )
            if len(verdicts) >= VERDICTS or self._clock() - flushed > FLUSH_NS:
                self._save(verdicts)
                verdicts, flushed = [], self._clock()
        self._save(verdicts)

    def _candidates(self, traces: Sequence[Trace]) -> list[Candidate]:
        found: list[Candidate] = []
        for trace_id, spans in self._complete(traces).items():
            try:
                found.extend(self._read(spans))
            except Exception as error:  # noqa: BLE001 - one bad trace must not stop the others
                self._note(error, f"trace {trace_id} cannot be read")
        return found

    def _read(self, spans: Sequence[SpanRecord]) -> Sequence[Candidate]:
        """A trace's answers, with the context that it links to where it holds none itself."""
        found = candidates(spans)
        if any(one.blocked is Decision.NO_CONTEXT for one in found) and (
            wanted := links_wanted(spans)
        ):
            return candidates(spans, spans_of(self._client, sorted(wanted)))
        return found

    def _complete(self, traces: Sequence[Trace]) -> dict[str, Sequence[SpanRecord]]:
        """Each trace's spans, from the store where the trace did not come whole."""
        known: dict[str, Sequence[SpanRecord]] = {t.trace_id: t.spans for t in traces if t.is_whole}
        parts = sorted({trace.trace_id for trace in traces} - known.keys())
        stored: defaultdict[str, list[SpanRecord]] = defaultdict(list)
        for span in spans_of(self._client, parts) if parts else ():
            stored[span.trace_id].append(span)
        return {**known, **stored}

    def _undecided(self, found: Sequence[Candidate]) -> list[Candidate]:
        before = already_decided(self._client, found, self._verifier.judge.id)
        return [
            candidate
            for candidate in found
            if (decision := before.get((candidate.trace_id, candidate.span_id))) is None
            or (decision in PROVISIONAL and candidate.blocked is None)
        ]

    def _save(self, verdicts: Sequence[Verdict]) -> None:
        """Store the verdicts, the carriers first: the verification is what makes them decided."""
        if not verdicts:
            return
        carriers = [self._carrier(verdict) for verdict in verdicts if verdict.report is not None]
        for wait_s in (*RETRIES_S, None):
            try:
                insert_spans(self._client, carriers)
                insert_verdicts(self._client, verdicts)
                break
            except StoreError as error:
                if wait_s is None or self._giving_up.is_set():
                    raise
                log.warning("verdicts not stored, next attempt in %s s: %s", wait_s, error)
                self._giving_up.wait(wait_s)
        for verdict in verdicts:
            self._counters.add(f"decisions.{verdict.decision}")
            if verdict.report is not None:
                self._counters.add(f"labels.{verdict.report.label}")

    def _carrier(self, verdict: Verdict) -> SpanRecord:
        trace_id, span_id = carrier_ids(verdict)
        return carrier_span(verdict, trace_id=trace_id, span_id=span_id, version=self._version)

    def _note(self, error: Exception, what: str) -> None:
        self._counters.add(f"failures.{type(error).__name__}")
        log.error(what, exc_info=error)
