"""The emitter: emits a verdict as a carrier span, an evaluation event and metrics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from opentelemetry._logs import LoggerProvider, get_logger_provider
from opentelemetry.metrics import MeterProvider, get_meter_provider
from opentelemetry.trace import TracerProvider

from otel_rt4chart.core.guard import guard
from otel_rt4chart.emit.metrics import VerdictMetrics
from otel_rt4chart.emit.writers import CarrierWriter, EventWriter
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.settings.application import content_switches
from otel_rt4chart.settings.content_switches import ContentSwitches
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import Advice, Claim, Evidence, Finding, Report


class Emitter:
    """Emits verdicts with the application's own providers. Thread-safe; never raises.

    A verified answer gets all three signals, a failed evaluation an event with its `error.type`,
    and every other answer is counted in the metrics. If the content switches of the environment
    hide texts, or the redactor drops them, only labels, counts, ids and ranges are emitted.
    """

    def __init__(
        self,
        kinds: Collection[str],
        *,
        tracer_provider: TracerProvider,
        logger_provider: LoggerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        redactor: Redactor,
        version: str,
        switches: ContentSwitches | None = None,
    ) -> None:
        """`kinds` may contain "carrier", "event" and "metrics"; the default providers are global.

        `redactor` is for the caller: it must redact texts before verification, so that ranges fit
        the redacted text. Verdicts are not redacted again.
        """
        self.redactor = redactor
        self._hides = redactor.drops or (switches or content_switches()).hide_any
        self._carrier_writer = (
            CarrierWriter(tracer_provider, version) if "carrier" in kinds else None
        )
        logs, meters = logger_provider or get_logger_provider(), meter_provider
        self._event_writer = EventWriter(logs, version) if "event" in kinds else None
        is_counting = "metrics" in kinds
        self._metrics = (
            VerdictMetrics(meters or get_meter_provider(), version) if is_counting else None
        )

    def emit(self, verdict: Verdict) -> None:
        """Emit one verdict; a failure of one signal does not affect the others."""
        if self._hides:
            verdict = without_texts(verdict)
        report = verdict.report
        if report is not None and self._carrier_writer is not None:
            with guard("writing a carrier span"):
                self._carrier_writer.write(verdict, report)
        has_event = report is not None or verdict.decision is Decision.ERROR
        if has_event and self._event_writer is not None:
            with guard("writing an evaluation event"):
                self._event_writer.write(verdict)
        if self._metrics is not None:
            with guard("counting a verdict"):
                self._metrics.write(verdict)

    def count_callback_failure(self) -> None:
        """Count an exception of the application's callback in the metrics."""
        if self._metrics is not None:
            with guard("counting a failed callback"):
                self._metrics.count_callback_failure()

    def observe_dropped(self, dropped: Callable[[], Mapping[str, int]]) -> None:
        """Report the number of dropped spans by reason in the metrics."""
        if self._metrics is not None:
            with guard("watching dropped spans"):
                self._metrics.observe_dropped(dropped)


def without_texts(verdict: Verdict) -> Verdict:
    """The verdict with labels, counts, ids and ranges; the exchange stays, as it is not emitted."""
    report = verdict.report
    return verdict if report is None else replace(verdict, report=_report(report))


def _report(report: Report) -> Report:
    return replace(
        report,
        claims=tuple(map(_claim, report.claims)),
        findings=tuple(map(_finding, report.findings)),
        advice=Advice(report.advice.action),
    )


def _claim(claim: Claim) -> Claim:
    evidence = tuple(map(_evidence, claim.evidence))
    return replace(claim, text="", reason="", clashes=(), nearest="", evidence=evidence)


def _evidence(evidence: Evidence) -> Evidence:
    return replace(evidence, text="")


def _finding(finding: Finding) -> Finding:
    return replace(finding, detail="", evidence=tuple(map(_evidence, finding.evidence)))
