"""The endpoint: what it takes, what it refuses and how, and when it says stored."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_rt4chart.errors import InputError, StoreError
from otel_rt4chart.spans.record import SpanRecord
from rt4chart_collector.otlp.intake import Intake
from rt4chart_collector.otlp.receiver import build_app
from tests.rt4chart_collector.otlp.messages import request, span

LIMIT = 10_000
PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json; charset=utf-8"}
GZIP = {**PROTOBUF, "content-encoding": "gzip"}


class Queue:
    """Takes what is offered and answers what it was told to."""

    def __init__(self) -> None:
        self.offered: list[Sequence[SpanRecord]] = []
        self.error: Exception | None = None
        self.is_full = False

    def offer(self, spans: Sequence[SpanRecord], size_bytes: int) -> Future[None] | None:
        """Resolve at once, as configured."""
        if self.is_full:
            return None
        self.offered.append(spans)
        stored: Future[None] = Future()
        if self.error:
            stored.set_exception(self.error)
        else:
            stored.set_result(None)
        return stored


@pytest.fixture
def queue() -> Queue:
    """An empty queue."""
    return Queue()


def call(
    queue: Queue, body: bytes | Iterator[bytes], headers: dict[str, str], path: str = "/v1/traces"
) -> httpx.Response:
    """POST to the application, in process."""

    async def chunks() -> object:
        for part in [body] if isinstance(body, bytes) else body:
            yield part

    async def post() -> httpx.Response:
        app = build_app(Intake(queue.offer, body_bytes=LIMIT), lambda: {"idle": True})
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
            return await client.post(path, content=chunks(), headers=headers)  # type: ignore[arg-type]

    return asyncio.run(post())


@pytest.mark.parametrize("packed", [False, True])
def test_spans_are_stored_and_answered(queue: Queue, packed: bool) -> None:
    """200 with an empty ExportTraceServiceResponse, packed or not."""
    body = request(span(1), span(2))

    answer = call(queue, gzip.compress(body) if packed else body, GZIP if packed else PROTOBUF)

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
    ],
    ids=[
        *("text", "no json", "no type", "brotli", "no proto", "no gzip", "cut gzip", "large"),
        *("bomb", "bomb in members"),
    ],
)
def test_what_cannot_be_taken_is_refused_for_good(
    queue: Queue, body: bytes, headers: dict[str, str], status: int, words: str
) -> None:
    """A status that clients do not retry, and a text that says what was expected."""
    answer = call(queue, body, headers)

    assert answer.status_code == status
    assert words in answer.text
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


def test_health_and_status_are_told(queue: Queue) -> None:
    """Both answer GET; unknown paths are 404."""
    app = build_app(Intake(queue.offer), lambda: {"idle": True})

    async def get() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
            return [await client.get(path) for path in ("/healthz", "/status", "/nothing")]

    health, status, nothing = asyncio.run(get())

    assert (health.text, status.json(), nothing.status_code) == ("ok\n", {"idle": True}, 404)
