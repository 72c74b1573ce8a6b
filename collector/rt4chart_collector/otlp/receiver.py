"""OTLP over HTTP: says 200 only when the spans are taken (OTLP 1.x, OTLP/HTTP)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rt4chart_collector.otlp.decode import Decoded, decode_spans
from rt4chart_collector.otlp.decode_json import decode_json
from rt4chart_collector.otlp.intake import Intake, response_to
from rt4chart_collector.otlp.refusal import Fault, RefusedError, too_large
from rt4chart_collector.otlp.room import Place
from rt4chart_collector.otlp.rpc_status import status_bytes
from rt4chart_collector.otlp.unpack import ENCODINGS, IDENTITY

PROTOBUF, JSON = "application/x-protobuf", "application/json"
DECODERS = {PROTOBUF: decode_spans, JSON: decode_json}
STATUSES = {
    Fault.MALFORMED: 400,
    Fault.UNAUTHENTICATED: 401,
    Fault.SLOW: 408,
    Fault.TOO_LARGE: 413,
    Fault.UNSUPPORTED: 415,
    Fault.BUSY: 503,
}


class Receiver:
    """The routes that take requests in."""

    def __init__(self, intake: Intake) -> None:
        """What decides on them."""
        self._intake = intake

    async def traces(self, request: Request) -> Response:
        """POST /v1/traces."""
        self._intake.authenticate(request.headers.get("authorization"))
        kind = _content_type(request)
        encoding = request.headers.get("content-encoding", IDENTITY).strip().lower()
        if kind not in DECODERS:
            raise _unsupported("type", " or ".join(DECODERS), kind)
        if encoding not in (IDENTITY, *ENCODINGS):
            raise _unsupported("encoding", f"{', '.join(ENCODINGS)} or none", encoding)
        with self._intake.room.place() as place:
            body = await self._read(request, place)
            decoded = await self._intake.take(place, body, DECODERS[kind], encoding)
        return _answer(kind, decoded)

    async def _read(self, request: Request, place: Place) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._intake.body_s):
                async for part in request.stream():
                    size += len(part)
                    if size > self._intake.body_bytes:
                        raise too_large(self._intake.body_bytes)
                    place.resize(size)
                    parts.append(part)
        except TimeoutError as error:
            raise self._intake.too_slow() from error
        except ClientDisconnect as error:
            raise RefusedError(Fault.MALFORMED, "the connection ended before the body") from error
        return b"".join(parts)


def build_app(intake: Intake, status: Callable[[], Mapping[str, object]]) -> Starlette:
    """The web application: the receiver, its health, and, with the token, its status as JSON."""

    async def show_status(request: Request) -> Response:
        intake.authenticate(request.headers.get("authorization"))
        return JSONResponse(status())

    async def show_health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def show_refusal(request: Request, error: Exception) -> Response:
        if not isinstance(error, RefusedError):
            raise error
        intake.note(error)
        return _told(request, STATUSES[error.fault], str(error), _headers_of(error))

    return Starlette(
        routes=[
            Route("/v1/traces", Receiver(intake).traces, methods=["POST"]),
            Route("/status", show_status),
            Route("/healthz", show_health),
        ],
        exception_handlers={HTTPException: _show_error, RefusedError: show_refusal},
    )


async def _show_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return _told(request, error.status_code, error.detail, dict(error.headers or {}))


def _headers_of(refused: RefusedError) -> dict[str, str]:
    headers = {}
    if refused.retry_s is not None:
        headers["Retry-After"] = str(refused.retry_s)
    if refused.fault is Fault.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = "Bearer"
    if refused.fault is Fault.SLOW:
        headers["Connection"] = "close"
    return headers


def _told(request: Request, status: int, text: str, headers: dict[str, str]) -> Response:
    """A google.rpc.Status in the encoding of the request, plain text where it has neither."""
    kind = _content_type(request)
    if kind == JSON:
        return JSONResponse({"message": text}, status, headers)
    if kind == PROTOBUF:
        return Response(status_bytes(text), status, headers, PROTOBUF)
    return PlainTextResponse(f"{text}\n", status, headers)


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _unsupported(what: str, expected: str, got: str) -> RefusedError:
    return RefusedError(
        Fault.UNSUPPORTED, f"expected content {what} {expected}, got {got[:80] or 'none'!r}"
    )


def _answer(kind: str, decoded: Decoded) -> Response:
    """An ExportTraceServiceResponse in the encoding of the request."""
    if kind == JSON:
        # OTLP's JSON writes 64-bit numbers as text.
        told = {"rejectedSpans": str(decoded.rejected), "errorMessage": decoded.reason}
        return JSONResponse({"partialSuccess": told} if decoded.rejected else {})
    return Response(response_to(decoded), media_type=PROTOBUF)
