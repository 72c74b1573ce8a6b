"""Metrics of the inline mode, with a bounded number of series.

Names and units follow OpenTelemetry docs/general/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

from otel_rt4chart.core import semconv
from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import Label

# A route name may contain ids by mistake; each name is a series in the user's metrics backend.
MAX_ROUTES = 200
OTHER_ROUTE = "other"
REASON_KEY = "rt4chart.reason"
DURATION_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class VerdictMetrics:
    """Counts answers and claims; routes beyond the first 200 share the route `other`."""

    def __init__(self, provider: MeterProvider, version: str) -> None:
        """The meter has our scope."""
        meter = provider.get_meter(semconv.SCOPE_NAME, version)
        self._meter = meter
        self._claims = meter.create_counter(
            "rt4chart.claims", "{claim}", "Claims of verified answers, by label"
        )
        self._answers = meter.create_counter(
            "rt4chart.answers", "{answer}", "Answers, by decision and label"
        )
        self._duration = meter.create_histogram(
            "rt4chart.verification.duration",
            "s",
            "Duration of the verification of an answer",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS_S,
        )
        self._callback_failures = meter.create_counter(
            "rt4chart.callback.failures", "{call}", "Calls of on_verdict that raised"
        )
        self._routes: set[str] = set()
        self._lock = Lock()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def write(self, verdict: Verdict) -> None:
        """Count one answer and its claims."""
        route = {semconv.ROUTE: self._route(verdict.candidate.route)}
        decided = route | {semconv.DECISION: verdict.decision.value}
        report = verdict.report
        if report is None:
            self._answers.add(1, decided)
            return
        self._answers.add(1, decided | {semconv.LABEL: report.label.value})
        self._duration.record(verdict.duration_ns / 1e9, route)
        for label in Label:
            if count := report.count(label):
                self._claims.add(count, route | {semconv.LABEL: label.value})

    def count_callback_failure(self) -> None:
        """Count one call of the application's callback that raised."""
        self._callback_failures.add(1)

    def observe_dropped(self, dropped: Callable[[], Mapping[str, int]]) -> None:
        """Report dropped spans by reason whenever metrics are collected."""

        def observe(_: CallbackOptions) -> Iterable[Observation]:
            return [Observation(count, {REASON_KEY: reason}) for reason, count in dropped().items()]

        self._meter.create_observable_counter(
            "rt4chart.spans.dropped", [observe], "{span}", "Spans that were dropped, by reason"
        )

    def _route(self, name: str) -> str:
        with self._lock:
            if name in self._routes:
                return name
            if len(self._routes) >= MAX_ROUTES:
                return OTHER_ROUTE
            self._routes.add(name)
            return name
