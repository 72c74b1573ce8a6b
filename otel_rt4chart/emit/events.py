"""The event `gen_ai.evaluation.result`, on the span of the answer though that has ended.

Source: OpenTelemetry docs/gen-ai/gen-ai-events.md.
"""

from __future__ import annotations

import json
from typing import Any

from opentelemetry._logs import Logger, LoggerProvider, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, set_span_in_context

from otel_rt4chart import semconv
from otel_rt4chart.emit.carriers import target_of
from otel_rt4chart.spans.carrier import METRIC, carrier_attributes
from otel_rt4chart.verdict import Verdict

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
