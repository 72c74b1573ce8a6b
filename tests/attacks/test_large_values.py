"""Values of many MiB are shortened on each way in, so that the database never holds one."""

from __future__ import annotations

import base64
import gc
import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc
import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rt4chart_collector.core.instruments import SHORTENED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.otlp.limit_span import VALUES_PER_SPAN
from rt4chart_collector.ingest.otlp.span_limiter import SpanLimiter
from tests.attacks.scale import scaled
from tests.attacks.stored import stored_bytes
from tests.polling import wait_until
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue, WaysIn, unary, ways_in
from tests.rt4chart_collector.otlp.messages import request, span, text

MIB = 2**20
LIMIT = scaled(MIB // 16, 4 * MIB)
LARGE = scaled(MIB, 40 * MIB)
PROTOBUF, JSON = "application/x-protobuf", "application/json"


def large_span(number: int = 1, *, values: int = 1) -> Span:
    """A span with that many large values, of LARGE bytes in all."""
    made = span(number)
    for index in range(values):
        made.attributes.add(key=f"k{index}", value=text("é" * (LARGE // values // 2)))
    made.attributes.add(key="llm.model_name", value=text("m"))
    return made


def as_json(body: bytes) -> bytes:
    """The same request in OTLP's JSON."""
    found = MessageToDict(ExportTraceServiceRequest.FromString(body))
    for one in found["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId"):
            one[name] = base64.b64decode(one[name]).hex()
    return json.dumps(found, ensure_ascii=False).encode()


@pytest.mark.parametrize("values", [1, 15, 400])
def test_every_way_in_shortens_the_same_span_alike(values: int) -> None:
    """Protobuf and JSON, packed and not, over HTTP and gRPC: one content, within its limit."""
    body, queue, metrics = request(large_span(values=values)), Queue(), ServiceMetrics()
    limiter = SpanLimiter(metrics, LIMIT)
    with ways_in(Intake(queue.offer, metrics=metrics, span_limiter=limiter)) as served:
        for kind, content in ((PROTOBUF, body), (JSON, as_json(body))):
            for encoding, sent in (("identity", content), ("gzip", gzip.compress(content, 1))):
                headers = {"content-type": kind, "content-encoding": encoding}
                answer = httpx.post(
                    f"{served.url}/v1/traces", content=sent, headers=headers, timeout=60
                )
                assert answer.status_code == 200
        with served.channel() as channel:
            unary(channel)(body, timeout=60)

    found = [one for spans in queue.offered for one in spans]
    assert len(found) == 5
    assert all(one == found[0] for one in found)
    assert stored_bytes(found[0]) <= VALUES_PER_SPAN * LIMIT
    assert found[0].shortened_attributes == values
    assert found[0].attributes["llm.model_name"] == "m"
    assert metrics.total(SHORTENED) == 5 * values


@contextmanager
def traced_memory() -> Iterator[Callable[[], int]]:
    """A function that returns the bytes that Python holds beyond those at the start.

    No garbage is collected meanwhile: it may take minutes, and gigabytes, until it is.
    """
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        start, _ = tracemalloc.get_traced_memory()
        yield lambda: tracemalloc.get_traced_memory()[0] - start
    finally:
        tracemalloc.stop()
        gc.enable()


REFUSED = {
    "queue full": lambda: request(large_span()),
    "malformed": lambda: b"\xff" * LARGE,
    "too many objects": lambda: b"\x0a\x00" * (LARGE // 2),
}


def send_over_grpc(served: WaysIn, body: bytes) -> None:
    """Send the body; it must be refused."""
    with served.channel() as channel, pytest.raises(grpc.RpcError):
        unary(channel)(body, timeout=60)


def send_over_http(served: WaysIn, body: bytes) -> None:
    """The same, packed."""
    headers = {"content-type": PROTOBUF, "content-encoding": "gzip"}
    packed = gzip.compress(body)
    assert httpx.post(
        f"{served.url}/v1/traces", content=packed, headers=headers, timeout=60
    ).is_error


@pytest.mark.parametrize("send", [send_over_grpc, send_over_http])
@pytest.mark.parametrize("fault", REFUSED)
def test_body_of_a_refused_request_is_released_at_once(
    send: Callable[[WaysIn, bytes], None], fault: str
) -> None:
    """An error refers to the frames that have the body; nothing of those may keep the error."""
    queue, number, body = Queue(), 6, REFUSED[fault]()
    queue.is_full = True
    with ways_in(Intake(queue.offer)) as served, traced_memory() as held:
        for _ in range(number):
            send(served, body)
        wait_until(lambda: held() < number // 2 * LARGE, within_s=10)

        assert held() < number // 2 * LARGE
