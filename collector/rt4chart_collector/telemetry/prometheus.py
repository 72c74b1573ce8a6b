"""The metrics in Prometheus' text format, or OpenMetrics' where a scraper prefers it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from rt4chart_collector.core.counters import BOUNDS_S, Distribution
from rt4chart_collector.telemetry.figures import Figures
from rt4chart_collector.telemetry.metric import Kind, Metric
from rt4chart_collector.telemetry.table import TABLE

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
BOUNDS = (*map(floatToGoString, BOUNDS_S), "+Inf")


class _Exposed(Collector):
    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Family]:
        for metric in TABLE:
            yield _family(metric, self._figures)


def exposition(figures: Figures, accept: str = "") -> tuple[bytes, str]:
    """The body and its content type, for a request's `Accept` header."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Exposed(figures))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def _family(metric: Metric, figures: Figures) -> Family:
    name, labels = metric.prometheus_name, metric.labels
    if metric.kind is Kind.HISTOGRAM:
        times = HistogramMetricFamily(name, metric.help, labels=labels)
        for values, found in metric.read(figures).items():
            if isinstance(found, Distribution):
                times.add_metric(values, _buckets(found), found.total_s)
        return times
    numbers = (CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily)(
        name, metric.help, labels=labels
    )
    for values, number in metric.read(figures).items():
        if not isinstance(number, Distribution):
            numbers.add_metric(values, number)
    return numbers


def _buckets(found: Distribution) -> list[tuple[str, float]]:
    return list(zip(BOUNDS, map(float, accumulate(found.counts)), strict=True))
