"""The intake that OTLP over HTTP and gRPC share: authentication, limits and acknowledgement."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import product

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import REQUESTS, SPANS_LOST, SPANS_RECEIVED, SPANS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import Purpose
from rt4chart_collector.ingest.otlp.day_limiter import REASON as TOO_MANY_DAYS
from rt4chart_collector.ingest.otlp.day_limiter import DayLimiter
from rt4chart_collector.ingest.otlp.decode import Decoded
from rt4chart_collector.ingest.otlp.decompress import IDENTITY, decompress
from rt4chart_collector.ingest.otlp.object_budget import (
    MAX_OBJECTS,
    TooManyObjectsError,
    object_budget,
)
from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError, busy
from rt4chart_collector.ingest.otlp.request_limiter import (
    RETRY_S,
    ObjectLimiter,
    RequestLimiter,
    RequestSlot,
)
from rt4chart_collector.ingest.otlp.span_limiter import SpanLimiter
from rt4chart_collector.ingest.otlp.token import authenticate
from rt4chart_collector.ingest.otlp.token_tenant import bind_spans

BODY_BYTES = 64 * 2**20
BODY_S = 30.0
MAX_REQUESTS = 256
# One address may have half of the requests and of their bytes in progress.
CLIENT_SHARE = 0.5
# Measured: 60 to 600 bytes of memory for each object.
OBJECTS_AT_ONCE = 2 * MAX_OBJECTS
# Of a body with few objects, its bytes count: four bodies of 16 MiB, or one of 64 MiB.
BYTES_PER_OBJECT = 16
# Messages of gRPC that are slow to arrive: each may be as large as a body may be.
SLOW_MESSAGES = 4
RETRY_STORE_S = 5
PROTOCOLS = ("grpc", "http")
ACCEPTED = "accepted"
RESULTS = (ACCEPTED, *(fault.name.lower() for fault in Fault))

CONFLICT = "a stored span has the same trace id and span id and another content"
Offer = Callable[[Sequence[SpanRecord], int], Future[int] | None]
Decode = Callable[[bytes, int | None], Decoded]

log = logging.getLogger(__name__)


class Intake:
    """Decodes requests and queues their spans; belongs to one event loop.

    `offer` queues spans, or returns None if the queue is full. With `waits` a request is
    acknowledged after its spans are stored, so that nothing acknowledged can be lost; otherwise
    when they are queued. `metrics` counts requests by protocol and result, and spans received,
    refused by reason, and lost (acknowledged but not stored).
    """

    def __init__(
        self,
        offer: Offer,
        *,
        guard: TokenGuard | None = None,
        waits: bool = True,
        metrics: ServiceMetrics | None = None,
        span_limiter: SpanLimiter | None = None,
        day_limiter: DayLimiter | None = None,
        body_bytes: int = BODY_BYTES,
        body_s: float = BODY_S,
    ) -> None:
        """`body_bytes` limits a body, compressed or not, and `body_s` its time to arrive."""
        self._offer = offer
        self._guard = guard or TokenGuard()
        self._waits = waits
        self._metrics = metrics or ServiceMetrics()
        self._span_limiter = span_limiter or SpanLimiter(self._metrics)
        self._day_limiter = day_limiter or DayLimiter(self._metrics)
        # Series that start at 0 let Prometheus' `rate` see the first event.
        for protocol, result in product(PROTOCOLS, RESULTS):
            self._metrics.add(REQUESTS, protocol, result, number=0)
        self.body_bytes = body_bytes
        self.body_s = body_s
        self.limiter = RequestLimiter(
            requests=MAX_REQUESTS, size_bytes=4 * body_bytes, share=CLIENT_SHARE
        )
        self.slow_limiter = RequestLimiter(
            requests=SLOW_MESSAGES,
            size_bytes=SLOW_MESSAGES * body_bytes,
            share=CLIENT_SHARE,
            kind="slow messages",
        )
        # Decompressing and decoding take several times the memory of a request: a few at a time.
        self._decoding = asyncio.Semaphore(4)
        self._objects = ObjectLimiter(OBJECTS_AT_ONCE)

    def authenticate(self, authorization: str | None, client: str) -> str:
        """The tenant of the header's token, "" for none.

        RefusedError if a token is required and this header does not have it.
        """
        return authenticate(self._guard, Purpose.INGEST, authorization, client)

    def note(self, protocol: str, refused: RefusedError | None = None) -> None:
        """Count a request of this protocol, accepted or refused."""
        result = ACCEPTED if refused is None else refused.fault.name.lower()
        self._metrics.add(REQUESTS, protocol, result)

    def too_slow(self) -> RefusedError:
        """The error for a body that did not arrive in time."""
        return RefusedError(
            Fault.SLOW, f"expected the whole body within {self.body_s:g} s; send smaller batches"
        )

    async def take(
        self,
        slot: RequestSlot,
        body: bytes,
        decode: Decode,
        encoding: str = IDENTITY,
        *,
        tenant: str,
        received_bytes: int | None = None,
    ) -> Decoded:
        """Return when the spans of a body may be acknowledged; RefusedError if they must not be.

        `tenant` is that of the token: spans that name another are rejected, and those that name
        none get it.
        The slot is emptied when the spans are queued, because the queue then counts their bytes.
        `received_bytes` is the size on the network, None where it is not known.
        """
        budget = None if received_bytes is None else object_budget(received_bytes)
        try:
            await self._decoding.acquire()
            size_bytes, decoded = await self._start_decoding(body, decode, encoding, budget)
            del body  # while the spans wait to be stored
            self._metrics.add(SPANS_RECEIVED, number=len(decoded.spans) + decoded.rejected)
            if tenant:
                # After the limits, which may leave out attributes of a resource.
                decoded, others = await asyncio.to_thread(bind_spans, decoded, tenant)
                self._metrics.add(SPANS_REFUSED, "other_tenant", number=others)
            slot.resize(0)
            conflicts = await self._store(decoded.spans, size_bytes + decoded.copied_bytes)
        except TooManyObjectsError as error:
            raise RefusedError(Fault.TOO_MANY_OBJECTS, str(error)) from error
        except InputError as error:
            raise RefusedError(Fault.MALFORMED, str(error)) from error
        return decoded.with_rejected(conflicts, CONFLICT)

    def _start_decoding(
        self, body: bytes, decode: Decode, encoding: str, budget: int | None
    ) -> asyncio.Future[tuple[int, Decoded]]:
        """`_decode` as a task that outlives its caller.

        No frame may keep the task: its error would refer to that frame, and keep the body in memory
        until garbage is collected.
        """
        decoding = asyncio.ensure_future(self._decode(body, decode, encoding, budget))
        # A client that cancels its call leaves a thread that still decodes: it counts on.
        decoding.add_done_callback(self._end_decoding)
        return asyncio.shield(decoding)

    async def _decode(
        self, body: bytes, decode: Decode, encoding: str, budget: int | None
    ) -> tuple[int, Decoded]:
        """The size of the decompressed body, and its spans."""
        body = await asyncio.to_thread(decompress, body, encoding, self.body_bytes)
        most = min(len(body) // 2, MAX_OBJECTS if budget is None else budget)
        async with self._objects.room(max(most, len(body) // BYTES_PER_OBJECT)):
            return len(body), await asyncio.to_thread(self._read, body, decode, budget)

    def _read(self, body: bytes, decode: Decode, budget: int | None) -> Decoded:
        """The spans of a body that are stored, with values that are small enough."""
        decoded = decode(body, budget)
        self._metrics.add(SPANS_REFUSED, "invalid", number=decoded.rejected)
        spans = self._day_limiter.admit(decoded.spans)
        refused = len(decoded.spans) - len(spans)
        limited = self._span_limiter.limit(spans, len(body))
        return replace(decoded, spans=limited).with_rejected(refused, TOO_MANY_DAYS)

    def _end_decoding(self, decoding: asyncio.Future[tuple[int, Decoded]]) -> None:
        self._decoding.release()
        if not decoding.cancelled():
            # Nobody else reads the error of a call that was cancelled.
            decoding.exception()

    async def _store(self, spans: Sequence[SpanRecord], size_bytes: int) -> int:
        """Queue the spans, and wait if `waits`; returns the number of those in conflict."""
        if not spans:
            return 0
        stored = self._offer(spans, size_bytes)
        if stored is None:
            self._metrics.add(SPANS_REFUSED, "queue_full", number=len(spans))
            raise busy("the queue is full or the service is stopping", RETRY_S)
        if not self._waits:
            stored.add_done_callback(partial(self._note_lost, len(spans)))
            return 0
        try:
            return await asyncio.wrap_future(stored)
        except StoreError as error:
            self._metrics.add(SPANS_REFUSED, "not_stored", number=len(spans))
            raise busy("the spans could not be stored", RETRY_STORE_S) from error

    def _note_lost(self, spans: int, stored: Future[int]) -> None:
        if stored.exception() is not None:
            log.error("%d spans that were acknowledged when queued are lost", spans)
            self._metrics.add(SPANS_LOST, "not_stored", number=spans)
        elif conflicts := stored.result():
            log.error(
                "%d spans that were acknowledged when queued are lost: %s", conflicts, CONFLICT
            )
            self._metrics.add(SPANS_LOST, "conflict", number=conflicts)


def response_to(decoded: Decoded) -> bytes:
    """An ExportTraceServiceResponse, with a partial success where spans were rejected."""
    partial = ExportTracePartialSuccess(
        rejected_spans=decoded.rejected, error_message=decoded.reason
    )
    answer = ExportTraceServiceResponse(partial_success=partial if decoded.rejected else None)
    return answer.SerializeToString()
