"""The service's own metrics: counted here, shown at /metrics or pushed by OpenTelemetry's SDK."""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from threading import Lock, Thread

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import CallbackOptions, NoOpMeter, Observation
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import View
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from rt4chart_collector.core.instruments import (
    BOUNDS_S,
    BUILD_INFO,
    INSTRUMENTS,
    START_TIME,
    Instrument,
    InstrumentKind,
)

NAME = "rt4chart"
# The SDK remembers every series that a gauge ever had. The routes of the monitor change over time:
# beyond this number new ones are merged into one series, which has the label otel_metric_overflow.
MAX_SERIES = 10_000
# The last export at shutdown may take this long; it is not worth a longer stop.
LAST_EXPORT_S = 2.0

log = logging.getLogger(__name__)

Labels = tuple[str, ...]
# The value of each series by its labels, or the value of the only series.
Values = float | Mapping[Labels, float]


class ServiceMetrics:
    """The metrics of one process; any thread may count, record and read.

    It has a meter provider of its own: the global one belongs to the application. Counting takes
    under a microsecond, where a counter of the SDK takes nine, so counters are plain numbers that
    the SDK reads.
    """

    def __init__(self, *, judge: str = "") -> None:
        """Counters start at 0; gauges are absent until `observe`."""
        self._lock, self._scraping = Lock(), Lock()
        self._counts: defaultdict[Instrument, Counter[Labels]] = defaultdict(Counter)
        self._reads: dict[Instrument, Callable[[], Values]] = {}
        self._registry = CollectorRegistry(auto_describe=False)
        own_version = version("otel-rt4chart")
        self._provider = MeterProvider(
            [PrometheusMetricReader(True, scope_info_enabled=False, registry=self._registry)],
            Resource.create({SERVICE_NAME: NAME, SERVICE_VERSION: own_version}),
            exemplar_filter=AlwaysOffExemplarFilter(),
            shutdown_on_exit=False,
            views=[View(instrument_name="*", aggregation_cardinality_limit=MAX_SERIES)],
        )
        self._meter = self._provider.get_meter(NAME, own_version)
        if isinstance(self._meter, NoOpMeter):
            log.warning("OTEL_SDK_DISABLED is set: /metrics is empty, and no metrics are pushed")
        self._histograms = {
            instrument: self._meter.create_histogram(
                instrument.otel_name,
                instrument.unit,
                instrument.description,
                explicit_bucket_boundaries_advisory=BOUNDS_S,
            )
            for instrument in INSTRUMENTS
            if instrument.kind is InstrumentKind.HISTOGRAM
        }
        for instrument in INSTRUMENTS:
            if instrument.kind is InstrumentKind.COUNTER:
                self._start_counter(instrument)
        started = time.time()
        self.observe(START_TIME, lambda: started)
        self.observe(BUILD_INFO, lambda: {(own_version, judge): 1})

    def add(self, counter: Instrument, *labels: str, number: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[counter][labels] += number

    def record(self, histogram: Instrument, seconds: float, *labels: str) -> None:
        """Note how long something took; a clock that was set back counts as no time."""
        attributes = dict(zip(histogram.labels, labels, strict=True))
        self._histograms[histogram].record(max(seconds, 0.0), attributes)

    @contextmanager
    def timed(self, duration: Instrument, failures: Instrument, *labels: str) -> Iterator[None]:
        """Record how long the block took, or count its failure."""
        begin = time.monotonic()
        try:
            yield
        except BaseException:  # counted and raised again, also at a stop
            self.add(failures, *labels)
            raise
        self.record(duration, time.monotonic() - begin, *labels)

    def counts(self, counter: Instrument) -> dict[Labels, int]:
        """What was counted so far, by labels."""
        with self._lock:
            return dict(self._counts[counter])

    def total(self, counter: Instrument) -> int:
        """What was counted so far, over all labels."""
        return sum(self.counts(counter).values())

    def observe(self, instrument: Instrument, read: Callable[[], Values]) -> None:
        """Report what `read` returns at each scrape or push; it must not block."""
        is_new = instrument not in self._reads
        self._reads[instrument] = read
        if is_new:
            is_counter = instrument.kind is InstrumentKind.COUNTER
            meter = self._meter
            create = (
                meter.create_observable_counter if is_counter else meter.create_observable_gauge
            )
            callback = partial(self._observations, instrument)
            create(instrument.otel_name, [callback], instrument.unit, instrument.description)

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """The metrics in the format that a request's `Accept` header prefers, and its type."""
        encode, content_type = choose_encoder(accept)
        # Two scrapes at once would mix up their series in the exporter.
        with self._scraping:
            return encode(self._registry), content_type

    @contextmanager
    def pushed(self, url: str, *, interval_s: float | None = None) -> Iterator[None]:
        """Send the metrics to an OTLP receiver while the block runs; nowhere if `url` is empty.

        A thread of the SDK reads and sends, `interval_s` or OTEL_METRIC_EXPORT_INTERVAL apart. The
        other OTEL_EXPORTER_OTLP_* variables apply.
        """
        if not url:
            yield
            return
        exporter = OTLPMetricExporter(endpoint=url)
        reader = PeriodicExportingMetricReader(exporter, interval_s and interval_s * 1000)
        self._provider.add_metric_reader(reader)
        try:
            yield
        finally:
            # A hanging receiver holds the exporter up: its thread is left behind then.
            last = Thread(target=reader.shutdown, args=(LAST_EXPORT_S * 1000,), daemon=True)
            last.start()
            last.join(LAST_EXPORT_S)

    def _start_counter(self, counter: Instrument) -> None:
        if not counter.labels or counter.known:
            series: list[Labels] = [(value,) for value in counter.known]
            self._counts[counter].update(dict.fromkeys(series or [()], 0))
        self.observe(counter, lambda: self.counts(counter))

    def _observations(self, instrument: Instrument, _: CallbackOptions) -> Iterator[Observation]:
        found = self._reads[instrument]()
        values = found if isinstance(found, Mapping) else {(): found}
        for labels, value in values.items():
            yield Observation(value, dict(zip(instrument.labels, labels, strict=True)))
