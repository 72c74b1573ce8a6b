"""The OTLP/HTTP endpoint: says 200 only when the spans are stored (OTLP 1.x, OTLP/HTTP)."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from otel_rt4chart.errors import InputError, StoreError
from otel_rt4chart.spans.record import SpanRecord
from rt4chart_collector.otlp.decode import Decoded, decode_spans
from rt4chart_collector.otlp.decode_json import decode_json

PROTOBUF, JSON = "application/x-protobuf", "application/json"
DECODERS = {PROTOBUF: decode_spans, JSON: decode_json}
BODY_BYTES = 64 * 2**20
GZIP_WINDOW = 16 + zlib.MAX_WBITS
RETRY_FULL_S, RETRY_STORE_S = "1", "5"

Offer = Callable[[Sequence[SpanRecord], int], Future[None] | None]


class Receiver:
    """Takes requests in; `offer` queues their spans or answers None where the queue is full."""

    def __init__(
        self, offer: Offer, *, body_bytes: int = BODY_BYTES, reading_bytes: int = 4 * BODY_BYTES
    ) -> None:
        """`reading_bytes` bounds the bodies of all requests that are being read, together."""
        self._offer = offer
        self._body_bytes = body_bytes
        self._reading_bytes = reading_bytes
        self._reading = 0
        # Unpacking and decoding hold a request several times over: a few at a time.
        self._decoding = asyncio.Semaphore(4)

    async def traces(self, request: Request) -> Response:
        """POST /v1/traces."""
        kind = _content_type(request)
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if kind not in DECODERS:
            raise HTTPException(
                415, f"expected content type {' or '.join(DECODERS)}, got {kind or 'none'!r}"
            )
        if encoding not in ("identity", "gzip"):
            raise HTTPException(415, f"expected content encoding gzip or none, got {encoding!r}")
        body = await self._read(request)
        async with self._decoding:
            try:
                if encoding == "gzip":
                    body = await run_in_threadpool(gunzip, body, self._body_bytes)
                decoded = await run_in_threadpool(DECODERS[kind], body)
            except InputError as error:
                raise HTTPException(400, str(error)) from error
        await self._store(decoded.spans, len(body))
        return _answer(kind, decoded)

    async def _read(self, request: Request) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async for part in request.stream():
                size += len(part)
                self._reading += len(part)
                if size > self._body_bytes:
                    raise HTTPException(413, _too_large(self._body_bytes))
                if self._reading > self._reading_bytes:
                    raise _retry("too many requests at once", RETRY_FULL_S)
                parts.append(part)
        finally:
            self._reading -= size
        return b"".join(parts)

    async def _store(self, spans: Sequence[SpanRecord], size_bytes: int) -> None:
        if not spans:
            return
        stored = self._offer(spans, size_bytes)
        if stored is None:
            raise _retry("the queue is full or the service is stopping", RETRY_FULL_S)
        try:
            await asyncio.wrap_future(stored)
        except StoreError as error:
            raise _retry("the spans could not be stored", RETRY_STORE_S) from error
        except InputError as error:
            raise HTTPException(400, str(error)) from error


def build_app(receiver: Receiver, status: Callable[[], Mapping[str, object]]) -> Starlette:
    """The web application: the receiver, its health, and its status as JSON."""

    async def show_status(_: Request) -> Response:
        return JSONResponse(status())

    async def show_health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def show_error(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        if _content_type(request) == JSON:
            return JSONResponse({"message": error.detail}, error.status_code, error.headers)
        return PlainTextResponse(f"{error.detail}\n", error.status_code, error.headers)

    return Starlette(
        routes=[
            Route("/v1/traces", receiver.traces, methods=["POST"]),
            Route("/status", show_status),
            Route("/healthz", show_health),
        ],
        exception_handlers={HTTPException: show_error},
    )


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _answer(kind: str, decoded: Decoded) -> Response:
    """An ExportTraceServiceResponse in the encoding of the request."""
    if kind == JSON:
        # OTLP's JSON writes 64-bit numbers as text.
        told = {"rejectedSpans": str(decoded.rejected), "errorMessage": decoded.reason}
        return JSONResponse({"partialSuccess": told} if decoded.rejected else {})
    partial = ExportTracePartialSuccess(
        rejected_spans=decoded.rejected, error_message=decoded.reason
    )
    answer = ExportTraceServiceResponse(partial_success=partial if decoded.rejected else None)
    return Response(answer.SerializeToString(), media_type=PROTOBUF)


def gunzip(body: bytes, limit: int) -> bytes:
    """Unpack all gzip members; never more than `limit` bytes, whatever they claim.

    Raises InputError where they are broken, HTTPException 413 where they are too large.
    """
    parts: list[bytes] = []
    size = 0
    try:
        while body:
            unpacking = zlib.decompressobj(GZIP_WINDOW)
            part = unpacking.decompress(body, limit + 1 - size)
            size += len(part)
            if size > limit:
                raise HTTPException(413, _too_large(limit))
            if not unpacking.eof:
                raise InputError("expected a gzip body, got one that ends too early")
            parts.append(part)
            body = unpacking.unused_data
    except zlib.error as error:
        raise InputError(f"expected a gzip body, got bytes that are none: {error}") from error
    return b"".join(parts)


def _too_large(limit: int) -> str:
    return f"expected at most {limit} bytes, packed and unpacked; send smaller batches"


def _retry(reason: str, after_s: str) -> HTTPException:
    return HTTPException(503, f"{reason}; send it again", {"Retry-After": after_s})
