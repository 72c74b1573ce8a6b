"""The service from the open traces to the store, in one thread, under a clock that a test moves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from threading import Event

from otel_rt4chart.spans.exchange.assembly import TraceBuffer, TraceTimeouts
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.instruments import SPANS_STORED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.decode import decode_spans
from rt4chart_collector.ingest.writer import IngestWriter
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.recovery import Recovery, Retries
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.service.status import Status
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.one_worker import OneWorker
from tests.rt4chart_collector.otlp.messages import rag_trace, request
from tests.rt4chart_collector.records import NOON, SECOND

START = NOON + 60 * SECOND
GOOD, BAD = "The trial lasts 14 days.", "The trial lasts 30 days."


def spans_from(number: int, answer: str = GOOD, route: str = "support") -> tuple[SpanRecord, ...]:
    """A retriever's, a generator's and the root's span of one trace."""
    trace = rag_trace(number, start_ns=NOON, answer=answer, route=route)
    return decode_spans(request(*trace)).spans


class Line:
    """A new one on the same store is the service after a restart."""

    def __init__(
        self, client: Client, verifier: Verifier, *, now: int = NOON + 60 * SECOND
    ) -> None:
        self.client = client
        self.now = now
        self.metrics = ServiceMetrics()
        judge, ticks = verifier.judge.id, count()
        self.verifier = CurrentVerifier(verifier, lambda: self.now)
        self.verifier.get(client)
        queue = self.queue = TraceQueue(999)
        self.breaker = Breaker(judge, lambda: self.now)
        retries = Retries(client, lambda: self.verifier.id)
        self.assembler = Assembler(
            TraceBuffer(TraceTimeouts(0, 0, 60 * SECOND), max_bytes=10**8),
            queue,
            queue.put,
            retries,
            self.breaker,
            self.metrics,
            recovery=Recovery(client, lambda: self.verifier.id),
            clock=lambda: self.now,
        )
        # Every look at the clock is a little later, so that no two decisions are of one moment.
        self.giving_up = Event()
        self.worker = OneWorker(
            client,
            self.verifier,
            lambda: self.now + next(ticks),
            queue=queue,
            metrics=self.metrics,
            breaker=self.breaker,
            giving_up=self.giving_up,
        )
        self.status = Status(
            self.metrics,
            ingest=IngestWriter(lambda spans: (), lambda spans: None, max_bytes=1),
            assembler=self.assembler,
            queue=queue,
            retries=retries,
            breaker=self.breaker,
        )

    def send(self, *numbers: int, answer: str = GOOD, route: str = "support") -> None:
        """Take traces in, and work on them."""
        for number in numbers:
            self._accept(spans_from(number, answer, route))
        self.after(0)

    def take(self, spans: Sequence[SpanRecord]) -> None:
        """Take these spans in, and work on them."""
        self._accept(spans)
        self.after(0)

    def after(self, seconds: float) -> None:
        """Let the time go by, then work until nothing is left to do at that moment."""
        self.now += round(seconds * SECOND)
        for _ in range(3):
            self.assembler.step()
            self.now += SECOND // 100
            self.assembler.step()
            while self.queue.pending:
                self.worker.handle(self.queue.lease(64))

    def _accept(self, spans: Sequence[SpanRecord]) -> None:
        insert_spans(self.client, spans)
        self.metrics.add(SPANS_STORED, number=len(spans))  # as VerificationRuntime.insert does
        self.assembler.accept(spans)

    def decisions(self) -> dict[tuple[str, str], int]:
        """How many answers have which decision and label."""
        return decisions(self.client)


def decisions(client: Client) -> dict[tuple[str, str], int]:
    """How many verdicts in force have which decision and label."""
    rows: Sequence[Sequence[str]] = client.query(
        "SELECT Decision, toString(Label), count() FROM rt4chart_verifications FINAL "
        "WHERE IsDeleted = 0 GROUP BY ALL"
    ).result_rows
    return {(decision, label): int(number) for decision, label, number in rows}


def rollup(client: Client) -> tuple[int, int, int, int]:
    """Answers, claims, entailed and contradicted, from the sums per minute."""
    row = client.query(
        "SELECT sum(Answers), sum(Claims), sum(Entailed), sum(Contradicted) FROM rt4chart_route_1m"
    ).result_rows[0]
    return tuple(map(int, row))  # type: ignore[return-value]


def carriers(client: Client) -> int:
    """How many spans carry a verdict."""
    return int(
        client.query(
            "SELECT count() FROM otel_traces "
            "WHERE SpanAttributes['openinference.span.kind'] = 'EVALUATOR'"
        ).result_rows[0][0]
    )
