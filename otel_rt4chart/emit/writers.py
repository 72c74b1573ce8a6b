"""Writes carrier spans and evaluation events with the application's providers."""

from __future__ import annotations

import json
from typing import Any

from opentelemetry._logs import Logger, LoggerProvider, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    TraceFlags,
    Tracer,
    TracerProvider,
    set_span_in_context,
)

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import LOG
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.spans.exchange.carrier import METRIC, carrier_attributes
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import Report

JSON_LISTS = (semconv.CLAIMS, semconv.FINDINGS)
JSON_VALUES = (*JSON_LISTS, semconv.STATUSES)


class CarrierWriter:
    """Writes carrier spans; the sampler of the application decides whether they are recorded."""

    def __init__(
        self, provider: TracerProvider, version: str, place: CarrierPlace = CarrierPlace.TRACE
    ) -> None:
        """The tracer has our scope, by which we recognise our own spans."""
        self._tracer: Tracer = provider.get_tracer(semconv.SCOPE_NAME, version)
        self._version = version
        self._place = place
        self._has_warned = False

    def write(self, verdict: Verdict, report: Report) -> None:
        """Write one span with the start and end of the verification."""
        attributes = carrier_attributes(verdict, report, self._version)
        answer = answer_span_context(verdict)
        # The parent is remote: the answer's trace has ended, so that nothing may wait for it.
        # In an empty context the carrier is the root of a trace of its own.
        is_below = self._place is CarrierPlace.TRACE
        span = self._tracer.start_span(
            semconv.CARRIER_NAME,
            context=_below(answer) if is_below else Context(),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            links=[Link(answer)],
            start_time=verdict.decided_ns - verdict.duration_ns,
        )
        if span.get_span_context().trace_flags.sampled:
            for name in JSON_LISTS:
                _drop_cut_rows(span, name, str(attributes[name]))
        elif not self._has_warned:
            self._has_warned = True
            LOG.warning(
                "the tracer provider's sampler drops carrier spans: for all verdicts, emit events "
                "and metrics (RT4CHART_EMIT), or use a sampler that keeps spans named %s",
                semconv.CARRIER_NAME,
            )
        span.end(end_time=verdict.decided_ns)


def answer_span_context(verdict: Verdict) -> SpanContext:
    """The context of the answer's span; its trace flags are unknown and assumed to be sampled."""
    return SpanContext(
        int(verdict.candidate.trace_id, 16),
        int(verdict.candidate.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


def _below(parent: SpanContext) -> Context:
    """A context with nothing but this parent."""
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _drop_cut_rows(span: Span, name: str, written: str) -> None:
    """If a length limit cut a JSON list, write the rows that fit, so that it stays valid JSON."""
    recorded = str((getattr(span, "attributes", None) or {}).get(name, written))
    if len(recorded) == len(written):
        return
    rows: list[object] = json.loads(written)
    size = 2
    fitting = []
    for row in rows:
        size += len(json.dumps(row, ensure_ascii=False)) + 2
        if size > len(recorded):
            break
        fitting.append(row)
    span.set_attribute(name, json.dumps(fitting, ensure_ascii=False))


EVENT_NAME = "gen_ai.evaluation.result"
ERROR_TYPE = "error.type"
# Attributes of the carrier span only.
SPAN_ONLY_PREFIXES = (semconv.SPAN_KIND, semconv.EVALUATION)


class EventWriter:
    """Writes evaluation events for verdicts and for failed evaluations."""

    def __init__(self, provider: LoggerProvider, version: str) -> None:
        """The logger has our scope."""
        self._logger: Logger = provider.get_logger(semconv.SCOPE_NAME, version)
        self._version = version

    def write(self, verdict: Verdict) -> None:
        """Write one event; claims and findings are structures, which events allow."""
        # In the context of the answer's span, so that backends show the event there.
        context = _below(answer_span_context(verdict))
        self._logger.emit(
            event_name=EVENT_NAME,
            timestamp=verdict.decided_ns or None,
            context=context,
            severity_number=SeverityNumber.INFO,
            attributes=self._attributes(verdict),
        )

    def _attributes(self, verdict: Verdict) -> dict[str, Any]:
        if verdict.report is None:
            return {
                semconv.GEN_AI_EVALUATION_NAME: METRIC,
                ERROR_TYPE: verdict.error_type or "_OTHER",
                semconv.ROUTE: verdict.candidate.route,
                semconv.DECISION: verdict.decision.value,
                semconv.VERSION: self._version,
            }
        carrier = carrier_attributes(verdict, verdict.report, self._version)
        attributes: dict[str, Any] = {
            key: value for key, value in carrier.items() if not key.startswith(SPAN_ONLY_PREFIXES)
        }
        return attributes | {key: json.loads(str(carrier[key])) for key in JSON_VALUES}
