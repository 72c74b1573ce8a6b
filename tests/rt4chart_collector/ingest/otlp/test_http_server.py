"""The endpoint: what it takes, what it refuses and how, and when it says stored."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Iterator

import httpx
import pytest
from backports import zstd
from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_rt4chart.core.errors import InputError, StoreError
from rt4chart_collector.ingest.otlp.http_server import build_app
from rt4chart_collector.ingest.otlp.intake import Intake
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue
from tests.rt4chart_collector.otlp.messages import request, span
from tests.tokens import guard_with

LIMIT = 10_000
PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json; charset=utf-8"}
GZIP = {**PROTOBUF, "content-encoding": "gzip"}
ZSTD = {**PROTOBUF, "content-encoding": "zstd"}
TOKEN = "s3cret"  # noqa: S105 - of this test


@pytest.fixture
def queue() -> Queue:
    """An empty queue."""
    return Queue()


def call(
    queue: Queue,
    body: bytes | Iterator[bytes] | AsyncIterator[bytes],
    headers: dict[str, str],
    *,
    intake: Intake | None = None,
) -> httpx.Response:
    """POST to the application, in process."""

    async def chunks() -> AsyncIterator[bytes]:
        if isinstance(body, AsyncIterator):
            async for part in body:
                yield part
        else:
            for part in [body] if isinstance(body, bytes) else body:
                yield part

    async def post() -> httpx.Response:
        taking = intake or Intake(queue.offer, body_bytes=LIMIT)
        transport = httpx.ASGITransport(app=build_app(taking))
        async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
            return await client.post("/v1/traces", content=chunks(), headers=headers)

    return asyncio.run(post())


def told(answer: httpx.Response) -> str:
    """The text of an answer, out of its google.rpc.Status where it has one."""
    is_status = answer.headers["content-type"] == PROTOBUF["content-type"]
    return str(Status.FromString(answer.content).message) if is_status else answer.text


@pytest.mark.parametrize(
    ("pack", "headers"),
    [(bytes, PROTOBUF), (gzip.compress, GZIP), (zstd.compress, ZSTD)],
    ids=["plain", "gzip", "zstd"],
)
def test_spans_are_stored_and_answered(
    queue: Queue, pack: Callable[[bytes], bytes], headers: dict[str, str]
) -> None:
    """200 with an empty ExportTraceServiceResponse, packed or not."""
    body = request(span(1), span(2))

    answer = call(queue, pack(body), headers)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"
    assert [len(spans) for spans in queue.offered] == [2]


def test_rejected_spans_are_told(queue: Queue) -> None:
    """A partial success counts them and says why."""
    bad = span(1)
    bad.trace_id = b"short"

    answer = call(queue, request(bad, span(2)), PROTOBUF)

    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (answer.status_code, partial.rejected_spans) == (200, 1)
    assert "trace id" in partial.error_message


def test_json_is_answered_in_json(queue: Queue) -> None:
    """The same endpoint, the same leniency; 64-bit numbers are text."""
    body = b"""{"resourceSpans": [{"scopeSpans": [{"spans": [
        {"traceId": "0123456789abcdef0123456789abcdef", "spanId": "0123456789abcdef",
         "startTimeUnixNano": "1790000000000000001"},
        {"traceId": "short"}]}]}]}"""

    answer = call(queue, body, JSON)
    empty = call(queue, gzip.compress(b"{}"), {**JSON, "content-encoding": "gzip"})

    told = answer.json()["partialSuccess"]
    assert (answer.status_code, told["rejectedSpans"]) == (200, "1")
    assert "trace id" in told["errorMessage"]
    assert [one.start_ns for spans in queue.offered for one in spans] == [1790000000000000001]
    assert (empty.status_code, empty.json()) == (200, {})


def test_request_without_spans_is_fine(queue: Queue) -> None:
    """Nothing to store is success."""
    assert call(queue, b"", PROTOBUF).status_code == 200
    assert queue.offered == []


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        (b"{}", {"content-type": "text/json"}, 415, "application/x-protobuf or application/json"),
        (b"not json", JSON, 400, '{"message":"expected an ExportTraceServiceRequest'),
        (b"", {}, 415, "got 'none'"),
        (b"x", {**PROTOBUF, "content-encoding": "br"}, 415, "gzip"),
        (b"not proto", PROTOBUF, 400, "ExportTraceServiceRequest"),
        (b"not gzip", GZIP, 400, "gzip"),
        (gzip.compress(request(span()))[:-9], GZIP, 400, "too early"),
        (b"x" * (LIMIT + 1), PROTOBUF, 413, f"at most {LIMIT} bytes"),
        (gzip.compress(b"x" * 50_000_000), GZIP, 413, f"at most {LIMIT} bytes"),
        (gzip.compress(b"x" * LIMIT) * 3, GZIP, 413, f"at most {LIMIT} bytes"),
        (zstd.compress(b"x" * 50_000_000), ZSTD, 413, f"at most {LIMIT} bytes"),
        (b"not zstd", ZSTD, 400, "expected a zstd body"),
    ],
    ids=[
        *("text", "no json", "no type", "brotli", "no proto", "no gzip", "cut gzip", "large"),
        *("bomb", "bomb in members", "zstd bomb", "no zstd"),
    ],
)
def test_what_cannot_be_taken_is_refused_for_good(
    queue: Queue, body: bytes, headers: dict[str, str], status: int, words: str
) -> None:
    """A status that clients do not retry, and a text that says what was expected."""
    answer = call(queue, body, headers)

    assert answer.status_code == status
    assert words in told(answer)
    assert queue.offered == []


def test_large_body_is_refused_while_it_comes(queue: Queue) -> None:
    """A body without a length is read no further than the limit."""
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while taken < 100 * LIMIT:
            taken += 1000
            yield b"x" * 1000

    assert call(queue, endless(), PROTOBUF).status_code == 413


def test_full_queue_asks_for_another_attempt(queue: Queue) -> None:
    """503 with Retry-After: the client keeps the spans."""
    queue.is_full = True

    answer = call(queue, request(span()), PROTOBUF)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize(
    ("error", "status"), [(StoreError("away"), 503), (InputError("a value does not fit"), 400)]
)
def test_spans_that_were_not_stored_are_not_acknowledged(
    queue: Queue, error: Exception, status: int
) -> None:
    """Try later where the store is away, never where the spans are to blame."""
    queue.error = error

    answer = call(queue, request(span()), PROTOBUF)

    assert answer.status_code == status
    assert ("retry-after" in answer.headers) is (status == 503)


@given(body=st.binary(max_size=100), headers=st.sampled_from([PROTOBUF, JSON, GZIP, ZSTD]))
def test_any_body_is_taken_or_the_client_is_to_blame(body: bytes, headers: dict[str, str]) -> None:
    """Never an error of the server."""
    assert call(Queue(), body, headers).status_code in (200, 400)


@pytest.mark.parametrize("sent", [{}, {"authorization": "Bearer wrong"}])
def test_body_of_a_stranger_is_not_read(queue: Queue, sent: dict[str, str]) -> None:
    """401 before its first byte."""

    def body() -> Iterator[bytes]:
        raise AssertionError
        yield b""

    answer = call(
        queue,
        body(),
        {**PROTOBUF, **sent},
        intake=Intake(queue.offer, guard=guard_with(ingest=TOKEN)),
    )

    assert answer.status_code == 401
    assert queue.offered == []


def test_late_body_is_refused(queue: Queue) -> None:
    """408, and the connection is given up."""

    async def body() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.01)

    answer = call(queue, body(), PROTOBUF, intake=Intake(queue.offer, body_s=0.1))

    assert (answer.status_code, answer.headers["connection"]) == (408, "close")
    assert "within 0.1 s" in told(answer)
