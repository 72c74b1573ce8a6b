"""Spans on thousands of days: each day of an insert is a part on the disk, in each table."""

from __future__ import annotations

import gzip

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from rt4chart_collector.core.instruments import SPANS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.day_limiter import DAY_NS, OTHER_DAYS, REASON
from rt4chart_collector.ingest.otlp.intake import Intake
from tests.attacks.scale import scaled
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue, unary, ways_in
from tests.rt4chart_collector.otlp.messages import request, span

# Days since 1970, long before any retention; a request of this size may have 5,000 spans.
DAYS = range(1, scaled(2_000, 4_900))


def test_a_small_request_does_not_make_thousands_of_parts() -> None:
    """40 kB of gzip kept all other inserts waiting for 80 seconds. The sender is told why."""
    queue, metrics = Queue(), ServiceMetrics()
    body = request(*(span(day, start_ns=day * DAY_NS) for day in DAYS))
    headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}

    with ways_in(Intake(queue.offer, metrics=metrics)) as served, served.channel() as channel:
        packed = gzip.compress(body)
        over_http = httpx.post(f"{served.url}/v1/traces", content=packed, headers=headers)
        over_grpc = unary(channel)(body, timeout=60)

    for answer in (over_http.content, over_grpc):
        partial = ExportTraceServiceResponse.FromString(answer).partial_success
        assert (partial.rejected_spans, partial.error_message) == (len(DAYS) - OTHER_DAYS, REASON)
    assert [len(spans) for spans in queue.offered] == [OTHER_DAYS] * 2
    assert {one.start_ns // DAY_NS for spans in queue.offered for one in spans} == set(
        range(1, OTHER_DAYS + 1)
    )
    assert metrics.counts(SPANS_REFUSED)["too_many_days",] == 2 * (len(DAYS) - OTHER_DAYS)
