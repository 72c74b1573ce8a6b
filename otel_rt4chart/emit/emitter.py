"""The emitter: one verdict in, a carrier span, an evaluation event and metrics out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from opentelemetry._logs import LoggerProvider, get_logger_provider
from opentelemetry.metrics import MeterProvider, get_meter_provider
from opentelemetry.trace import TracerProvider

from otel_rt4chart.core.guard import guard
from otel_rt4chart.emit.carriers import Carriers, Events
from otel_rt4chart.emit.content import without_texts
from otel_rt4chart.emit.metrics import Metrics
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.settings.application import content_switches
from otel_rt4chart.settings.content_switches import ContentSwitches
from otel_rt4chart.spans.model.verdict import Decision, Verdict


class Emitter:
    """Emits verdicts by the application's own providers; any thread may call it, nothing raises.

    Verified answers get all three; a failed evaluation gets an event with its `error.type`; what
    was not verified is counted. Where the content switches of the environment hide texts, or the
    redactor drops them, labels, counts, ids and ranges are emitted and no text.
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
        """`kinds` are of "carrier", "event" and "metrics"; global providers unless given.

        Texts are redacted before they are verified, so that ranges fit them: `redactor` is what
        the verifier is to use, and is not applied to verdicts again.
        """
        self.redactor = redactor
        self._hides = redactor.drops or (switches or content_switches()).hide_any
        self._carriers = Carriers(tracer_provider, version) if "carrier" in kinds else None
        logs, meters = logger_provider or get_logger_provider(), meter_provider
        self._events = Events(logs, version) if "event" in kinds else None
        is_counting = "metrics" in kinds
        self._metrics = Metrics(meters or get_meter_provider(), version) if is_counting else None

    def emit(self, verdict: Verdict) -> None:
        """Emit one verdict; what one way cannot take does not keep it from the others."""
        if self._hides:
            verdict = without_texts(verdict)
        report = verdict.report
        if report is not None and self._carriers is not None:
            with guard("writing a carrier span"):
                self._carriers.write(verdict, report)
        is_told = report is not None or verdict.decision is Decision.ERROR
        if is_told and self._events is not None:
            with guard("writing an evaluation event"):
                self._events.write(verdict)
        if self._metrics is not None:
            with guard("counting a verdict"):
                self._metrics.write(verdict)

    def watch(self, dropped: Callable[[], Mapping[str, int]]) -> None:
        """Report dropped spans by reason with the metrics."""
        if self._metrics is not None:
            with guard("watching dropped spans"):
                self._metrics.watch(dropped)
