"""The metrics to an OTLP receiver, every minute, by OpenTelemetry's own SDK."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.metrics.export import Metric as Exported
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource

from rt4chart_collector.core.counters import BOUNDS_S, Distribution
from rt4chart_collector.telemetry.figures import Figures
from rt4chart_collector.telemetry.metric import Kind, Metric, Values
from rt4chart_collector.telemetry.table import TABLE

Read = Callable[[], Figures]

NAME = "rt4chart"
# What the last export may take at the end; it is not worth a longer stop.
LAST_S = 2.0


@contextmanager
def pushed(read: Read, url: str, *, interval_s: float | None = None) -> Iterator[None]:
    """Send what `read` finds to `url` while the block runs; nowhere where that is empty.

    A thread of its own reads and sends, `interval_s` or OTEL_METRIC_EXPORT_INTERVAL apart. The
    other OTEL_EXPORTER_OTLP_* variables hold, but the temporality, which is cumulative.
    """
    if not url:
        yield
        return
    figures = read()
    exporter = _WithTimes(OTLPMetricExporter(endpoint=url), read)
    reader = PeriodicExportingMetricReader(exporter, interval_s and interval_s * 1000)
    resource = Resource.create({SERVICE_NAME: NAME, SERVICE_VERSION: figures.version})
    provider = MeterProvider([reader], resource, shutdown_on_exit=False)
    _instruments(provider.get_meter(NAME, figures.version), read)
    try:
        yield
    finally:
        # The exporter may be in the middle of its attempts: its thread is left behind then.
        last = Thread(target=provider.shutdown, args=(LAST_S * 1000,), daemon=True)
        last.start()
        last.join(LAST_S)


class _WithTimes(MetricExporter):
    """Adds the histograms on their way out: OpenTelemetry has no instrument that reads them."""

    def __init__(self, inner: MetricExporter, read: Read) -> None:
        super().__init__()
        self._inner = inner
        self._read = read

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: object
    ) -> MetricExportResult:
        figures = self._read()
        times = [_histogram(one, figures) for one in TABLE if one.kind is Kind.HISTOGRAM]
        return self._inner.export(_with(metrics_data, times), timeout_millis)

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._inner.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:
        self._inner.shutdown(timeout_millis)


def _instruments(meter: Meter, read: Read) -> None:
    for metric in TABLE:
        if metric.kind is Kind.HISTOGRAM:
            continue
        create = (
            meter.create_observable_counter
            if metric.kind is Kind.COUNTER
            else meter.create_observable_gauge
        )
        create(metric.otel_name, [_observer(metric, read)], metric.unit, metric.help)


def _observer(metric: Metric, read: Read) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observe(_: CallbackOptions) -> Iterator[Observation]:
        for values, number in metric.read(read()).items():
            if not isinstance(number, Distribution):
                yield Observation(number, _attributes(metric, values))

    return observe


def _attributes(metric: Metric, values: Values) -> dict[str, str]:
    return dict(zip(metric.labels, values, strict=True))


def _histogram(metric: Metric, figures: Figures) -> Exported:
    started, now = int(figures.start_s * 1e9), time.time_ns()
    points = [
        HistogramDataPoint(
            attributes=_attributes(metric, values),
            start_time_unix_nano=started,
            time_unix_nano=now,
            count=found.count,
            sum=found.total_s,
            bucket_counts=found.counts,
            explicit_bounds=BOUNDS_S,
            # Not kept, and optional in OTLP.
            min=None,  # type: ignore[arg-type]
            max=None,  # type: ignore[arg-type]
        )
        for values, found in metric.read(figures).items()
        if isinstance(found, Distribution)
    ]
    data = Histogram(points, AggregationTemporality.CUMULATIVE)
    return Exported(metric.otel_name, metric.help, metric.unit, data)


def _with(data: MetricsData, more: list[Exported]) -> MetricsData:
    resources = list(data.resource_metrics)
    scopes = list(resources[0].scope_metrics)
    present = [one for one in more if one.data.data_points]
    scopes[0] = replace(scopes[0], metrics=[*scopes[0].metrics, *present])
    resources[0] = replace(resources[0], scope_metrics=scopes)
    return MetricsData(resources)
