"""OTLP over HTTP: replies 200 only after the spans are accepted (OTLP 1.x, "OTLP/HTTP")."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rt4chart_collector.ingest.otlp.decode import Decoded, decode_spans
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from rt4chart_collector.ingest.otlp.decompress import ENCODINGS, IDENTITY
from rt4chart_collector.ingest.otlp.intake import Intake, response_to
from rt4chart_collector.ingest.otlp.refusal import (
    HANDLERS,
    JSON,
    PROTOBUF,
    Fault,
    RefusedError,
    content_type,
    too_large,
)
from rt4chart_collector.ingest.otlp.request_limiter import RequestSlot
from rt4chart_collector.ingest.otlp.token import client_of

DECODERS = {PROTOBUF: decode_spans, JSON: decode_json}


class Receiver:
    """The route that accepts spans."""

    def __init__(self, intake: Intake) -> None:
        """`intake` decides on the requests."""
        self._intake = intake

    async def traces(self, request: Request) -> Response:
        """POST /v1/traces."""
        try:
            answer = await self._accept(request)
        except RefusedError as refused:
            self._intake.note("http", refused)
            raise
        self._intake.note("http")
        return answer

    async def _accept(self, request: Request) -> Response:
        header = request.headers.get("authorization")
        tenant = self._intake.authenticate(header, client_of(request))
        kind = content_type(request)
        encoding = request.headers.get("content-encoding", IDENTITY).strip().lower()
        if kind not in DECODERS:
            raise _unsupported("type", " or ".join(DECODERS), kind)
        if encoding not in (IDENTITY, *ENCODINGS):
            raise _unsupported("encoding", f"{', '.join(ENCODINGS)} or none", encoding)
        client = request.client.host if request.client else ""
        with self._intake.limiter.slot(client) as slot:
            body = await self._read(request, slot)
            decoded = await self._intake.take(
                slot, body, DECODERS[kind], encoding, tenant=tenant, received_bytes=len(body)
            )
        return _answer(kind, decoded)

    async def _read(self, request: Request, slot: RequestSlot) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._intake.body_s):
                async for part in request.stream():
                    size += len(part)
                    if size > self._intake.body_bytes:
                        raise too_large(self._intake.body_bytes)
                    slot.resize(size)
                    parts.append(part)
        except TimeoutError as error:
            raise self._intake.too_slow() from error
        except ClientDisconnect as error:
            raise RefusedError(Fault.MALFORMED, "the connection ended before the body") from error
        return b"".join(parts)


def build_app(intake: Intake, routes: Sequence[Route] = ()) -> Starlette:
    """The web application: the receiver and further routes."""
    receiving = Route("/v1/traces", Receiver(intake).traces, methods=["POST"])
    return Starlette(routes=[receiving, *routes], exception_handlers=dict(HANDLERS))


def _unsupported(what: str, expected: str, got: str) -> RefusedError:
    return RefusedError(
        Fault.UNSUPPORTED, f"expected content {what} {expected}, got {got[:80] or 'none'!r}"
    )


def _answer(kind: str, decoded: Decoded) -> Response:
    """An ExportTraceServiceResponse in the encoding of the request."""
    if kind == JSON:
        # OTLP's JSON writes 64-bit numbers as text.
        partial = {"rejectedSpans": str(decoded.rejected), "errorMessage": decoded.reason}
        return JSONResponse({"partialSuccess": partial} if decoded.rejected else {})
    return Response(response_to(decoded), media_type=PROTOBUF)
