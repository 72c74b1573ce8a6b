"""The gRPC side, asked by a real channel: what it takes, what it refuses, and in which code."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import grpc
import pytest
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from otel_rt4chart.core.errors import InputError, StoreError
from rt4chart_collector.ingest.otlp.grpc_server import (
    MOST_PENDING_CALLS,
    PENDING_CALLS,
    GrpcReceiver,
)
from rt4chart_collector.ingest.otlp.intake import BODY_BYTES, MAX_REQUESTS, Intake
from tests.polling import wait_until
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue, WaysIn, streamed, unary, ways_in
from tests.rt4chart_collector.otlp.messages import request, span
from tests.tokens import guard_with

LIMIT = 100_000
TOKEN = "s3cret"  # noqa: S105 - of this test


# A channel with a connection of its own.
OWN = (("grpc.use_local_subchannel_pool", 1),)


@pytest.fixture
def queue() -> Queue:
    """An empty queue."""
    return Queue()


@pytest.fixture
def served(queue: Queue) -> Iterator[WaysIn]:
    """Both ways in, without a token."""
    with ways_in(Intake(queue.offer, body_bytes=LIMIT, body_s=1)) as found:
        yield found


def refusal(served: WaysIn, body: bytes, packing: grpc.Compression | None = None) -> grpc.RpcError:
    """The error that a call of these bytes ends with."""
    with served.channel() as channel, pytest.raises(grpc.RpcError) as raised:
        unary(channel)(body, timeout=20, compression=packing)
    return raised.value


def stalled(never: threading.Event) -> Iterator[bytes]:
    """A message that does not come before the event."""
    never.wait(30)
    yield b""


def status_of(error: BaseException | None) -> tuple[grpc.StatusCode, str]:
    """An error's code and text."""
    assert isinstance(error, grpc.Call)
    return error.code(), error.details() or ""


def retry_of(error: grpc.RpcError) -> list[int]:
    """When to send again, in seconds, from each of the trailers that say so."""
    sent = {one.key: one.value for one in error.trailing_metadata()}
    found: list[int] = []
    if "grpc-status-details-bin" in sent:
        status = Status.FromString(sent["grpc-status-details-bin"])
        assert status.code == error.code().value[0]
        retry = RetryInfo()
        assert status.details[0].Unpack(retry)
        found.append(retry.retry_delay.seconds)
    if "google.rpc.retryinfo-bin" in sent:
        found.append(RetryInfo.FromString(sent["google.rpc.retryinfo-bin"]).retry_delay.seconds)
    return found


@pytest.mark.parametrize("packing", grpc.Compression)
def test_spans_are_stored_and_answered(
    served: WaysIn, queue: Queue, packing: grpc.Compression
) -> None:
    """The generated client of OpenTelemetry, packed or not."""
    message = ExportTraceServiceRequest.FromString(request(span(1), span(2)))

    with served.channel() as channel:
        answer = TraceServiceStub(channel).Export(message, compression=packing)  # type: ignore[no-untyped-call]

    assert answer == ExportTraceServiceResponse()
    assert queue.span_ids == ["0" * 15 + "1", "0" * 15 + "2"]


def test_partial_success_is_told(served: WaysIn, queue: Queue) -> None:
    """The good span is stored, the other counted with its reason."""
    bad = span(1)
    bad.trace_id = b"short"

    with served.channel() as channel:
        answer = unary(channel)(request(bad, span(2)))

    partial = ExportTraceServiceResponse.FromString(answer).partial_success
    assert partial.rejected_spans == 1
    assert "trace id" in partial.error_message
    assert queue.span_ids == ["0" * 15 + "2"]


@given(body=st.binary(max_size=100))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_taken_or_the_client_is_to_blame(served: WaysIn, body: bytes) -> None:
    """INVALID_ARGUMENT, which no client sends again."""
    with served.channel() as channel:
        error = unary(channel).future(body).exception()

    assert (error is None) is is_request(body)
    if error is not None:
        assert status_of(error)[0] is grpc.StatusCode.INVALID_ARGUMENT
        assert "expected an ExportTraceServiceRequest" in status_of(error)[1]


def is_request(body: bytes) -> bool:
    """True where protobuf itself can read it."""
    try:
        ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("body", "packing"),
    [(bytes(LIMIT + 1), grpc.Compression.NoCompression), (bytes(10**8), grpc.Compression.Gzip)],
    ids=["large", "bomb"],
)
def test_too_large_message_is_refused_for_good(
    served: WaysIn, queue: Queue, body: bytes, packing: grpc.Compression
) -> None:
    """RESOURCE_EXHAUSTED without a time for another attempt; unpacked it is no larger."""
    error = refusal(served, body, packing)

    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "larger than max" in status_of(error)[1]
    assert retry_of(error) == []
    assert queue.offered == []


def test_full_queue_asks_for_another_attempt(served: WaysIn, queue: Queue) -> None:
    """UNAVAILABLE, and when: as the specification has it and as OpenTelemetry's Python reads it."""
    queue.is_full = True

    error = refusal(served, request(span()))

    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert retry_of(error) == [1, 1]


@pytest.mark.parametrize(
    ("error", "code", "retries"),
    [
        (StoreError("away"), grpc.StatusCode.UNAVAILABLE, [5, 5]),
        (InputError("a value does not fit"), grpc.StatusCode.INVALID_ARGUMENT, []),
    ],
)
def test_spans_that_were_not_stored_are_not_acknowledged(
    served: WaysIn, queue: Queue, error: Exception, code: grpc.StatusCode, retries: list[int]
) -> None:
    """Try later where the store is away, never where the spans are to blame."""
    queue.error = error

    found = refusal(served, request(span()))

    assert (found.code(), retry_of(found)) == (code, retries)


def test_token_is_asked_for_before_the_message(queue: Queue) -> None:
    """Strangers are refused at once, though their message never comes."""
    never = threading.Event()

    with (
        ways_in(Intake(queue.offer, guard=guard_with(ingest=TOKEN))) as served,
        served.channel() as channel,
    ):
        ask = streamed(channel)
        for sent in ((), (("authorization", "Bearer wrong"),)):
            with pytest.raises(grpc.RpcError) as refused:
                ask(stalled(never), metadata=sent, timeout=10)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
            assert "RT4CHART_INGEST_TOKEN" in status_of(refused.value)[1]
            assert TOKEN not in status_of(refused.value)[1]
        never.set()
        mine = (("authorization", f"Bearer {TOKEN}"),)
        unary(channel)(request(span(7)), metadata=mine)

    assert queue.span_ids == ["0" * 15 + "7"]


def test_late_message_holds_no_other(served: WaysIn, queue: Queue) -> None:
    """Others are answered meanwhile; it ends in DEADLINE_EXCEEDED."""
    never = threading.Event()

    with served.channel() as channel:
        late = streamed(channel).future(stalled(never))
        unary(channel)(request(span(1)), timeout=10)
        assert not late.done()
        error = late.exception()
        never.set()

    assert status_of(error)[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    assert "within 1 s" in status_of(error)[1]
    assert len(queue.offered) == 1


def test_call_without_a_message_is_malformed(served: WaysIn) -> None:
    """One is expected."""
    with served.channel() as channel, pytest.raises(grpc.RpcError) as raised:
        streamed(channel)(iter(()))

    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "got none" in status_of(raised.value)[1]


def test_more_requests_than_places_are_sent_away(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the time for another attempt; the places are given back at the end."""
    monkeypatch.setattr(GrpcReceiver, "quick_s", 60.0)
    intake = Intake(queue.offer, body_s=60)
    never = threading.Event()

    with ways_in(intake) as served, served.channel() as channel:
        waiting = [streamed(channel).future(stalled(never)) for _ in range(70)]
        # Each counts as 4 MiB until it has come: 32 of them are half of the 256 MiB.
        wait_until(lambda: intake.limiter.taken_requests == 32)
        error = refusal(served, request(span()))
        never.set()
        errors = [one.exception() for one in waiting]

    assert intake.limiter.requests == MAX_REQUESTS
    assert (error.code(), retry_of(error)) == (grpc.StatusCode.UNAVAILABLE, [1, 1])
    refused = [status_of(error)[0] for error in errors if error]
    assert refused == [grpc.StatusCode.UNAVAILABLE] * len(refused)
    assert len(refused) == 38
    assert (intake.limiter.taken_requests, intake.limiter.taken_bytes) == (0, 0)


def test_calls_that_nobody_looked_at_are_few(
    served: WaysIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gRPC keeps their headers; the others are told to send again, while all of ours waits."""
    released = threading.Event()

    async def wait(*_: object) -> bytes:
        released.wait(60)
        return b""

    monkeypatch.setattr(GrpcReceiver, "_take", wait)
    with ExitStack() as channels:
        opened = [
            channels.enter_context(grpc.insecure_channel(served.address, OWN)) for _ in range(4)
        ]
        calls = [unary(each).future(b"") for each in opened for _ in range(200)]
        wait_until(lambda: sum(one.done() for one in calls) >= 800 - MOST_PENDING_CALLS - 2)
        released.set()
        codes = [one.code() for one in calls]
        answered = [one.result() for one in calls if one.code() is grpc.StatusCode.OK]

    assert set(codes) == {grpc.StatusCode.CANCELLED, grpc.StatusCode.OK}
    assert answered == [b""] * len(answered)
    assert PENDING_CALLS <= len(answered) <= MOST_PENDING_CALLS + 2


def test_slow_messages_are_counted_as_large_ones_and_sent_away(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two from one address may be on their way; a third is sent again, a quick one passes."""
    monkeypatch.setattr(GrpcReceiver, "quick_s", 0.05)
    intake = Intake(queue.offer, body_s=60)
    never = threading.Event()

    with ways_in(intake) as served, served.channel() as channel:
        slow = [streamed(channel).future(stalled(never)) for _ in range(2)]
        wait_until(lambda: intake.slow_limiter.taken_bytes == 2 * BODY_BYTES)
        with pytest.raises(grpc.RpcError) as refused:
            streamed(channel)(stalled(never), timeout=10)
        unary(channel)(request(span(1)), timeout=10)
        assert [one.done() for one in slow] == [False, False]
        never.set()
        ends = [one.result() for one in slow]

    assert status_of(refused.value) == (
        grpc.StatusCode.UNAVAILABLE,
        "too many slow messages at once from this address; send it again",
    )
    assert retry_of(refused.value) == [1, 1]
    assert queue.span_ids == ["0" * 15 + "1"]
    assert ends == [b"", b""]
    assert (intake.slow_limiter.taken_requests, intake.slow_limiter.taken_bytes) == (0, 0)
