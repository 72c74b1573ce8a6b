"""The service's own metrics: counted from many threads, scraped, and pushed as OTLP."""

from __future__ import annotations

import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.metrics import get_meter_provider
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from rt4chart_collector.core.instruments import (
    ANSWERS,
    BOUNDS_S,
    FAILURES,
    INSTRUMENTS,
    KAFKA_LAG,
    SPANS_STORED,
    STORE_INSERT_DURATION,
    STORE_INSERT_FAILURES,
    VERDICT_LAG,
    VERIFICATION_DURATION,
    WORK_QUEUE_TRACES,
)
from rt4chart_collector.core.metrics import Labels, ServiceMetrics
from tests.polling import WITHIN_S, wait_until
from tests.rt4chart_collector.telemetry.asked import Shown, samples

SKIPPED = ("_bucket", "_sum")


class Receiver:
    """Takes OTLP metrics over HTTP and keeps them."""

    def __init__(self) -> None:
        self.url = ""
        self.paths: list[str] = []
        self.requests: list[ExportMetricsServiceRequest] = []

    @property
    def last(self) -> dict[str, Metric]:
        """The metrics of the last request, by name."""
        (resource,) = self.requests[-1].resource_metrics
        (scope,) = resource.scope_metrics
        return {metric.name: metric for metric in scope.metrics}


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver that listens."""
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.paths.append(self.path)
            found.requests.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}/v1/metrics"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


@pytest.fixture
def metrics() -> ServiceMetrics:
    """Some counts and times."""
    made = ServiceMetrics(judge="local/1")
    made.add(SPANS_STORED, number=7)
    made.add(ANSWERS, "verified", number=3)
    for seconds in (0.02, 0.3, 4e6):
        made.record(VERIFICATION_DURATION, seconds, "local/1")
    return made


def shown(metrics: ServiceMetrics) -> Shown:
    """What Prometheus reads."""
    return samples(metrics.exposition()[0].decode())


@given(st.lists(st.floats(0, 1e6)))
@settings(max_examples=25)
def test_every_time_is_in_the_bucket_of_its_bound(times: list[float]) -> None:
    """As many are at most a bound as lie in the buckets up to it; the sum is theirs."""
    metrics = ServiceMetrics()
    for seconds in times:
        metrics.record(VERDICT_LAG, seconds)

    found = shown(metrics)
    name = VERDICT_LAG.prometheus_name
    if times:
        assert found[f"{name}_count", ()] == len(times)
        assert found[f"{name}_sum", ()] == pytest.approx(sum(times))
    assert {labels[0][1]: value for (one, labels), value in found.items() if "bucket" in one} == {
        **{str(bound): sum(one <= bound for one in times) for bound in BOUNDS_S if times},
        **({"+Inf": len(times)} if times else {}),
    }


def test_clock_that_was_set_back_takes_no_time() -> None:
    """A negative time counts as none."""
    metrics = ServiceMetrics()
    metrics.record(VERDICT_LAG, -5.0)

    found, name = shown(metrics), VERDICT_LAG.prometheus_name
    assert (found[f"{name}_count", ()], found[f"{name}_sum", ()]) == (1, 0)


def test_block_is_timed_or_counted_as_failed() -> None:
    """A failure is no time, and goes on to whoever called."""
    metrics = ServiceMetrics()
    with metrics.timed(STORE_INSERT_DURATION, STORE_INSERT_FAILURES, "spans"):
        pass
    with (
        pytest.raises(SystemExit),
        metrics.timed(STORE_INSERT_DURATION, STORE_INSERT_FAILURES, "spans"),
    ):
        raise SystemExit

    duration = f"{STORE_INSERT_DURATION.prometheus_name}_count"
    assert shown(metrics)[duration, (("kind", "spans"),)] == 1
    assert metrics.counts(STORE_INSERT_FAILURES) == {("spans",): 1, ("verdicts",): 0}


def test_nothing_is_lost_between_threads() -> None:
    """What was read does not change, whatever other threads add meanwhile."""
    metrics = ServiceMetrics()

    def add() -> None:
        for _ in range(1000):
            metrics.add(FAILURES, "x")
            metrics.record(VERDICT_LAG, 1)

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    before = metrics.counts(FAILURES)
    copy = dict(before)
    for thread in threads:
        thread.join()

    assert before == copy
    assert metrics.total(FAILURES) == 4000
    assert shown(metrics)["rt4chart_verdict_lag_seconds_count", ()] == 4000


def test_scrapes_at_once_are_whole(metrics: ServiceMetrics) -> None:
    """Each has every series once."""
    with ThreadPoolExecutor(8) as pool:
        bodies = list(pool.map(lambda _: metrics.exposition()[0], range(64)))

    assert set(bodies) == {metrics.exposition()[0]}
    lines = [line.rsplit(" ", 1)[0] for line in bodies[0].decode().splitlines()]
    assert len(set(lines)) == len(lines)


def test_values_are_those_of_the_moment_of_reading(metrics: ServiceMetrics) -> None:
    """A series that is gone is not shown; the part that was named last is read."""
    lags: dict[Labels, float] = {("0",): 5.0, ("1",): 6.0}
    metrics.observe(KAFKA_LAG, lambda: lags)
    first = shown(metrics)
    del lags["0",]
    second = shown(metrics)
    metrics.observe(KAFKA_LAG, lambda: {("7",): 1.0})
    third = shown(metrics)

    series = [
        {labels[0][1]: value for (name, labels), value in one.items() if "kafka_lag" in name}
        for one in (first, second, third)
    ]
    assert series == [{"0": 5, "1": 6}, {"1": 6}, {"7": 1}]


def test_a_part_that_cannot_be_read_hides_no_other(metrics: ServiceMetrics) -> None:
    """Its series are missing; the others are shown."""

    def fail() -> float:
        raise RuntimeError("a fault")

    metrics.observe(WORK_QUEUE_TRACES, fail)

    found = shown(metrics)
    assert found["rt4chart_spans_stored_total", ()] == 7
    assert "rt4chart_work_queue_traces" not in {name for name, _ in found}


def test_label_values_are_escaped() -> None:
    """No value ends its line."""
    metrics = ServiceMetrics(judge='a"b\\c\nd')

    (labels,) = [labels for name, labels in shown(metrics) if name == "rt4chart_build_info"]
    assert dict(labels)["judge"] == 'a"b\\c\nd'


def test_the_global_provider_is_left_alone() -> None:
    """It belongs to the application; two sets of metrics in one process do not mix either."""
    before = get_meter_provider()
    one, other = ServiceMetrics(), ServiceMetrics()
    one.add(SPANS_STORED)

    assert get_meter_provider() is before
    assert (one.total(SPANS_STORED), other.total(SPANS_STORED)) == (1, 0)
    assert shown(other)["rt4chart_spans_stored_total", ()] == 0


def test_a_disabled_sdk_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """OpenTelemetry's variable turns the metrics off; the counts of /status remain."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    metrics = ServiceMetrics()
    metrics.add(SPANS_STORED)
    metrics.record(VERDICT_LAG, 1.0)

    assert metrics.total(SPANS_STORED) == 1
    assert shown(metrics) == {}
    assert "OTEL_SDK_DISABLED is set: /metrics is empty" in caplog.text


def test_receiver_gets_what_is_shown(metrics: ServiceMetrics) -> None:
    """Counters, gauges and histograms of the table, at the end at the latest."""
    with receiving() as receiver:
        with metrics.pushed(receiver.url):
            metrics.record(VERIFICATION_DURATION, 0.02, "local/1")
            metrics.record(VERIFICATION_DURATION, 4e6, "local/1")
        last = receiver.last

    assert receiver.paths == ["/v1/metrics"]
    (stored,) = last["rt4chart.spans_stored"].sum.data_points
    assert (stored.as_int, last["rt4chart.spans_stored"].sum.is_monotonic) == (7, True)
    answers = {
        point.attributes[0].value.string_value: point.as_int
        for point in last["rt4chart.answers"].sum.data_points
    }
    assert (answers["verified"], answers["error"]) == (3, 0)
    (times,) = last["rt4chart.verification_duration"].histogram.data_points
    assert times.count == 2
    assert times.sum == pytest.approx(4e6 + 0.02)
    assert tuple(times.explicit_bounds) == BOUNDS_S
    assert (times.bucket_counts[2], times.bucket_counts[-1]) == (1, 1)
    assert last["rt4chart.verification_duration"].unit == "s"


def test_both_ways_out_have_the_same_series(metrics: ServiceMetrics) -> None:
    """As many of each metric, and nothing that the table does not have."""
    with receiving() as receiver:
        with metrics.pushed(receiver.url):
            metrics.record(VERIFICATION_DURATION, 0.02, "local/1")
        last = receiver.last

    scraped = Counter(
        re.sub(r"_count$", "", name) for name, _ in shown(metrics) if not name.endswith(SKIPPED)
    )
    sent = {
        metric.prometheus_name: len(
            (one := last[metric.otel_name]).sum.data_points
            or one.gauge.data_points
            or one.histogram.data_points
        )
        for metric in INSTRUMENTS
        if metric.otel_name in last
    }
    assert sent == scraped
    assert len(sent) == len(last)


def test_sending_goes_on_while_it_runs(metrics: ServiceMetrics) -> None:
    """Each time with the figures of that moment."""
    with receiving() as receiver, metrics.pushed(receiver.url, interval_s=0.1):

        def requests() -> int:
            metrics.add(SPANS_STORED)
            return len(receiver.requests)

        wait_until(requests, lambda sent: sent >= 3)
        values = [
            metric.sum.data_points[0].as_int
            for request in receiver.requests
            for metric in request.resource_metrics[0].scope_metrics[0].metrics
            if metric.name == "rt4chart.spans_stored"
        ]

    assert len(values) >= 3
    assert all(before <= after for before, after in pairwise(values))


def test_receiver_that_hangs_delays_the_end_a_little(metrics: ServiceMetrics) -> None:
    """Only a thread of its own waits for it: counting and reading go on meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/metrics"
        with metrics.pushed(url, interval_s=0.05):
            silent.settimeout(30)
            connection, _ = silent.accept()
            metrics.add(SPANS_STORED)
            during = shown(metrics)["rt4chart_spans_stored_total", ()]
            # An end that waits for the receiver comes when this closes its connection.
            watchdog = threading.Timer(WITHIN_S, connection.close)
            watchdog.start()
        assert watchdog.is_alive()
        watchdog.cancel()
        connection.close()

    assert during == 8


def test_nothing_is_sent_nowhere(metrics: ServiceMetrics) -> None:
    """Without a URL there is no thread."""
    before = set(threading.enumerate())
    with metrics.pushed(""):
        assert set(threading.enumerate()) <= before  # an earlier test's may end meanwhile
