"""Metrics as OTLP: a receiver gets what /metrics shows, and one that is away disturbs nobody."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from rt4chart_collector.core.counters import BOUNDS_S, Counters
from rt4chart_collector.service.status import Status
from rt4chart_collector.telemetry.metric import Kind
from rt4chart_collector.telemetry.push import LAST_S, pushed
from rt4chart_collector.telemetry.table import TABLE


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
def counters() -> Counters:
    """Some counts and times."""
    made = Counters()
    made.add("spans_stored", 7)
    made.add("decisions.verified", 3)
    for seconds in (0.02, 0.3, 4e6):
        made.observe("verification.local/1", seconds)
    return made


def test_receiver_gets_what_is_shown(counters: Counters) -> None:
    """Counters, gauges and histograms of the table, at the end at the latest."""
    status = Status(counters)
    with receiving() as receiver:
        with pushed(status.figures, receiver.url):
            pass
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
    assert times.count == 3
    assert times.sum == pytest.approx(4e6 + 0.32)
    assert tuple(times.explicit_bounds) == BOUNDS_S
    assert (times.bucket_counts[2], times.bucket_counts[6], times.bucket_counts[-1]) == (1, 1, 1)
    assert not times.HasField("min")
    assert last["rt4chart.verification_duration"].unit == "s"


def test_same_table_goes_both_ways(counters: Counters) -> None:
    """Each metric that has a sample is sent, with the same values."""
    status = Status(counters)
    with receiving() as receiver:
        with pushed(status.figures, receiver.url):
            pass
        last = receiver.last

    figures = status.figures()
    expected = {one.otel_name: len(one.read(figures)) for one in TABLE if one.read(figures)}
    sent = {
        name: len(
            metric.sum.data_points or metric.gauge.data_points or metric.histogram.data_points
        )
        for name, metric in last.items()
    }
    assert sent == expected
    assert {one.kind for one in TABLE} == set(Kind)


def test_sending_goes_on_while_it_runs(counters: Counters) -> None:
    """Each time with the figures of that moment."""
    status = Status(counters)
    with receiving() as receiver, pushed(status.figures, receiver.url, interval_s=0.1):
        until = time.monotonic() + 10
        while len(receiver.requests) < 3 and time.monotonic() < until:
            counters.add("spans_stored")
            time.sleep(0.02)
        values = [
            metric.sum.data_points[0].as_int
            for request in receiver.requests
            for metric in request.resource_metrics[0].scope_metrics[0].metrics
            if metric.name == "rt4chart.spans_stored"
        ]

    assert len(values) >= 3
    assert all(before <= after for before, after in pairwise(values))


def test_receiver_that_hangs_delays_the_end_a_little(counters: Counters) -> None:
    """Nothing waits for it but a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/metrics"
        with pushed(Status(counters).figures, url, interval_s=0.05):
            time.sleep(0.3)
            begin = time.monotonic()
        took = time.monotonic() - begin

    assert took < LAST_S + 1


def test_nothing_is_sent_nowhere(counters: Counters) -> None:
    """Without a URL there is no thread."""
    before = set(threading.enumerate())
    with pushed(Status(counters).figures, ""):
        assert set(threading.enumerate()) <= before  # an earlier test's may end meanwhile
