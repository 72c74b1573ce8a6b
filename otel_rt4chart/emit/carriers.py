"""The carrier span of a verdict and its evaluation event, made by the application's provider."""

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
from otel_rt4chart.spans.exchange.carrier import METRIC, carrier_attributes
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import Report

LISTS = (semconv.CLAIMS, semconv.FINDINGS)


class Carriers:
    """Writes carriers; whether they are recorded is the application's sampler's to say."""

    def __init__(self, provider: TracerProvider, version: str) -> None:
        """The tracer has our scope, by which our own spans are known again."""
        self._tracer: Tracer = provider.get_tracer(semconv.SCOPE_NAME, version)
        self._version = version
        self._is_told = False

    def write(self, verdict: Verdict, report: Report) -> None:
        """One span, started when verification did, ended when it did."""
        attributes = carrier_attributes(verdict, report, self._version)
        span = self._tracer.start_span(
            semconv.CARRIER_NAME,
            context=Context(),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            links=[Link(target_of(verdict))],
            start_time=verdict.decided_ns - verdict.duration_ns,
        )
        if span.get_span_context().trace_flags.sampled:
            for name in LISTS:
                _keep_whole(span, name, str(attributes[name]))
        elif not self._is_told:
            self._is_told = True
            LOG.warning(
                "the tracer provider's sampler drops carrier spans: expected to see every verdict, "
                "take the event and the metrics (RT4CHART_EMIT) or a sampler that keeps roots "
                "named %s",
                semconv.CARRIER_NAME,
            )
        span.end(end_time=verdict.decided_ns)


def target_of(verdict: Verdict) -> SpanContext:
    """The answer's span; its flags are not known any more."""
    return SpanContext(
        int(verdict.candidate.trace_id, 16),
        int(verdict.candidate.span_id, 16),
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


def _keep_whole(span: Span, name: str, written: str) -> None:
    """Where a limit cut a list of JSON objects, those that fit, whole."""
    kept = str((getattr(span, "attributes", None) or {}).get(name, written))
    if len(kept) == len(written):
        return
    rows: list[object] = json.loads(written)
    size = 2
    fitting = []
    for row in rows:
        size += len(json.dumps(row, ensure_ascii=False)) + 2
        if size > len(kept):
            break
        fitting.append(row)
    span.set_attribute(name, json.dumps(fitting, ensure_ascii=False))


EVENT = "gen_ai.evaluation.result"
ERROR_TYPE = "error.type"
NESTED = (semconv.CLAIMS, semconv.FINDINGS)
# What belongs to the carrier span alone.
SPAN_ONLY = (semconv.SPAN_KIND, semconv.EVALUATION)


class Events:
    """Writes evaluation events, for verdicts and for evaluations that failed."""

    def __init__(self, provider: LoggerProvider, version: str) -> None:
        """The logger has our scope."""
        self._logger: Logger = provider.get_logger(semconv.SCOPE_NAME, version)
        self._version = version

    def write(self, verdict: Verdict) -> None:
        """One event; claims and findings are nested, as events allow it."""
        context = set_span_in_context(NonRecordingSpan(target_of(verdict)), Context())
        self._logger.emit(
            event_name=EVENT,
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
        said = carrier_attributes(verdict, verdict.report, self._version)
        attributes: dict[str, Any] = {
            key: value for key, value in said.items() if not key.startswith(SPAN_ONLY)
        }
        return attributes | {key: json.loads(str(said[key])) for key in NESTED}
