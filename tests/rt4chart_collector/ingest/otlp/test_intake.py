"""The intake: who may send, and when a request counts as taken."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import SPANS_LOST
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.decode import Decoded, decode_spans
from rt4chart_collector.ingest.otlp.intake import CONFLICT, Intake
from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError
from rt4chart_collector.ingest.writer import IngestWriter
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue
from tests.rt4chart_collector.otlp.messages import request, span
from tests.tokens import guard_with

TOKEN = "s3cret-of-the-service"  # noqa: S105 - of this test


async def take(intake: Intake, body: bytes) -> Decoded:
    """The body, in a slot of its own."""
    with intake.limiter.slot() as slot:
        return await intake.take(slot, body, decode_spans, tenant="")


@pytest.mark.parametrize(
    "header",
    [None, "", TOKEN, "Bearer", "Bearer s3cret", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "é"],
)
def test_wrong_token_is_refused_in_words_that_help(header: str | None) -> None:
    """They say what to send and never what would be right."""
    with pytest.raises(
        RefusedError, match=r"'Authorization: Bearer TOKEN'.*RT4CHART_INGEST_TOKEN"
    ) as no:
        Intake(Queue().offer, guard=guard_with(ingest=TOKEN)).authenticate(header, "192.0.2.1")

    assert no.value.fault is Fault.UNAUTHENTICATED
    assert "s3cret" not in str(no.value)


def test_right_token_is_let_in() -> None:
    """The scheme's case does not count; without a token anything is let in."""
    intake = Intake(Queue().offer, guard=guard_with(ingest=TOKEN))
    tried = (f"Bearer {TOKEN}", f"bearer  {TOKEN} ", f"Bearer {TOKEN}x")
    assert [_lets_in(intake, header) for header in tried] == [True, True, False]
    assert _lets_in(Intake(Queue().offer), "Bearer something")


def _lets_in(intake: Intake, header: str) -> bool:
    try:
        intake.authenticate(header, "192.0.2.1")
    except RefusedError:
        return False
    return True


@pytest.mark.parametrize(
    ("error", "fault", "retry_s"),
    [(StoreError("away"), Fault.BUSY, 5), (InputError("no fit"), Fault.MALFORMED, None)],
)
def test_error_of_the_store_reaches_who_waits(
    error: Exception, fault: Fault, retry_s: int | None
) -> None:
    """To be sent again where the store is away, never where the spans are to blame."""
    queue = Queue()
    queue.error = error

    with pytest.raises(RefusedError) as refused:
        asyncio.run(take(Intake(queue.offer), request(span())))

    assert (refused.value.fault, refused.value.retry_s) == (fault, retry_s)


def test_who_does_not_wait_is_told_when_queued_and_a_loss_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is the price of not waiting, and it is no secret."""
    queue, metrics = Queue(), ServiceMetrics()
    intake = Intake(queue.offer, waits=False, metrics=metrics)

    asyncio.run(take(intake, request(span(1))))
    queue.error = StoreError("away")
    with caplog.at_level(logging.ERROR):
        asyncio.run(take(intake, request(span(2), span(3))))

    assert len(queue.span_ids) == 3
    assert metrics.counts(SPANS_LOST) == {("not_stored",): 2, ("conflict",): 0}
    assert "2 spans that were acknowledged when queued are lost" in caplog.text


def test_conflicts_are_a_partial_success() -> None:
    """The other spans are acknowledged; the reason comes beside those of the decoder."""
    queue = Queue()
    queue.conflicts = 2
    faulty = request(span(1), span(2), Span(trace_id=b"", span_id=b"", name="no id"))

    decoded = asyncio.run(take(Intake(queue.offer), faulty))

    assert (decoded.rejected, len(decoded.spans)) == (3, 2)
    assert decoded.reason == f"a trace id must be 16 bytes, not all zero; {CONFLICT}"


def test_conflict_of_who_does_not_wait_is_a_loss(caplog: pytest.LogCaptureFixture) -> None:
    """Its client was told that the spans are taken."""
    queue, metrics = Queue(), ServiceMetrics()
    queue.conflicts = 2
    intake = Intake(queue.offer, waits=False, metrics=metrics)

    with caplog.at_level(logging.ERROR):
        decoded = asyncio.run(take(intake, request(span(1), span(2))))

    assert decoded.rejected == 0
    assert metrics.counts(SPANS_LOST) == {("not_stored",): 0, ("conflict",): 2}
    assert f"2 spans that were acknowledged when queued are lost: {CONFLICT}" in caplog.text


def test_client_that_goes_away_disturbs_no_other() -> None:
    """Its spans are stored as those of its neighbour are, and the writer lives on."""
    written: list[SpanRecord] = []
    may_write = threading.Event()

    def store(spans: Sequence[SpanRecord]) -> tuple[int, ...]:
        assert may_write.wait(10)
        written.extend(spans)
        return ()

    ingest = IngestWriter(store, lambda _: None, max_bytes=10**6)
    intake = Intake(ingest.offer)
    writer = threading.Thread(target=ingest.run)
    writer.start()

    async def both() -> Decoded:
        leaving = asyncio.create_task(take(intake, request(span(1))))
        staying = asyncio.create_task(take(intake, request(span(2))))
        while ingest.size_bytes < 2 * len(request(span())):  # noqa: ASYNC110 - another thread's
            await asyncio.sleep(0.001)
        leaving.cancel()
        await asyncio.wait([leaving])
        may_write.set()
        return await staying

    assert len(asyncio.run(both()).spans) == 1
    ingest.stop()
    writer.join(10)
    assert not writer.is_alive()
    assert [span.span_id[-1] for span in written] == ["1", "2"]
    assert (intake.limiter.taken_requests, intake.limiter.taken_bytes) == (0, 0)


def test_cancelled_calls_count_until_their_threads_have_ended() -> None:
    """Or a client that cancels could have any number of bodies decoded at once."""
    begun, release = threading.Semaphore(0), threading.Event()

    def stuck(_: bytes, __: int | None) -> Decoded:
        begun.release()
        release.wait(30)
        return Decoded(())

    async def cancel_and_count() -> bool:
        intake = Intake(Queue().offer)
        with intake.limiter.slot() as slot:
            calls = [
                asyncio.ensure_future(intake.take(slot, b"", stuck, tenant="")) for _ in range(8)
            ]
            for _ in range(4):
                await asyncio.to_thread(begun.acquire)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            late = asyncio.ensure_future(intake.take(slot, b"", stuck, tenant=""))
            await asyncio.sleep(0)
            waiting = begun.acquire(blocking=False)
            release.set()
            await late
        return waiting

    assert asyncio.run(cancel_and_count()) is False
