"""Adds trails to verdicts: in which step of its chain each failed claim of an answer entered."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.core.tenants import tenant_of_service
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.left_out import limited_claims
from otel_rt4chart.judges.trails import TrailMaker, unfaithful_claims, unknown
from otel_rt4chart.sampling import Layers
from otel_rt4chart.spans.exchange.exchanges import (
    MAX_ANSWERS_COMPARED,
    linked_trace_ids,
    spans_of_tenant,
)
from otel_rt4chart.spans.graph.chain import TraceChain, find_chain
from otel_rt4chart.spans.model.blame import ClaimBlame
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Verdict
from rt4chart_collector.core.instruments import TRAIL_DURATION, TRAILS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.engine.connect import Client

SECOND = 10**9

log = logging.getLogger(__name__)


class AnswerTrails:
    """Traces the failed claims of the answers that the layers choose; threads may share it."""

    def __init__(
        self, maker: TrailMaker, metrics: ServiceMetrics, *, layers: Layers, clock: Clock
    ) -> None:
        """`clock` returns nanoseconds."""
        self._maker = maker
        self._metrics = metrics
        self._layers = layers
        self._clock = clock

    def add(
        self, client: Client, verdict: Verdict, spans: Sequence[SpanRecord], *, answers: int = 1
    ) -> Verdict:
        """The verdict with its trails; `spans` are those of the answer's trace.

        `answers` is the number of answers in the trace: of many, none has a trail. Never raises: if
        tracing fails, the trails say so, and the verdict is as it was.
        """
        candidate = verdict.candidate
        failed = unfaithful_claims(verdict)
        is_chosen = self._layers.traces(
            candidate.trace_id, candidate.route, is_remote=self._maker.is_remote
        )
        if not (failed or limited_claims(verdict)) or not is_chosen:
            return verdict
        if answers > MAX_ANSWERS_COMPARED:
            self._metrics.add(TRAILS, "no_chain", number=len(failed))
            problem = f"the trace has {answers} answers: it is a batch, and its steps are not told"
            return replace(verdict, trail=unknown(failed, f"{problem} apart"))
        started = self._clock()
        try:
            chain = chain_of(client, candidate.service, candidate.span_id, spans)
            traced = self._maker.make(verdict, chain)
        except Exception as error:  # noqa: BLE001 - a trail that fails must not lose the verdict
            where = "trail of answer %s of trace %s: %s"
            log.error(where, candidate.span_id, candidate.trace_id, redacted_error(error))
            self._metrics.add(TRAILS, "failed", number=len(failed))
            problem = f"tracing it failed: {type(error).__name__}"
            return replace(verdict, trail=unknown(failed, problem))
        self._metrics.record(TRAIL_DURATION, (self._clock() - started) / SECOND)
        self._metrics.add(TRAILS, "one_step", number=0 if traced.trail else len(failed))
        for blame in traced.trail:
            self._metrics.add(TRAILS, _result(blame))
        return traced


def chain_of(client: Client, service: str, span_id: str, spans: Sequence[SpanRecord]) -> TraceChain:
    """The chain of an answer from the spans of its trace, and of other traces that it links to.

    `service` is the stored name, whose tenant's spans count alone.
    """
    wanted = linked_trace_ids(spans)
    linked = spans_of(client, sorted(wanted)) if wanted else ()
    tenant = tenant_of_service(service)
    return find_chain(spans_of_tenant(spans, tenant), span_id, spans_of_tenant(linked, tenant))


def _result(blame: ClaimBlame) -> str:
    if blame.place is not None:
        return "located"
    if blame.blamed:
        return "several"
    return "unknown" if blame.way else "no_chain"
