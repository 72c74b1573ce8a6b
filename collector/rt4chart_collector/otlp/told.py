"""What a client is told over HTTP when its request is not taken."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ExceptionHandler

from rt4chart_collector.otlp.refusal import Fault, RefusedError
from rt4chart_collector.otlp.rpc_status import status_bytes

PROTOBUF, JSON = "application/x-protobuf", "application/json"
STATUSES = {
    Fault.MALFORMED: 400,
    Fault.UNAUTHENTICATED: 401,
    Fault.SLOW: 408,
    Fault.TOO_LARGE: 413,
    Fault.UNSUPPORTED: 415,
    Fault.BUSY: 503,
}


def content_type(request: Request) -> str:
    """The media type of the request's body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _show_refusal(request: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedError):
        raise error
    return _told(request, STATUSES[error.fault], str(error), _headers_of(error))


async def _show_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return _told(request, error.status_code, error.detail, dict(error.headers or {}))


HANDLERS: dict[object, ExceptionHandler] = {
    HTTPException: _show_error,
    RefusedError: _show_refusal,
}


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
    kind = content_type(request)
    if kind == JSON:
        return JSONResponse({"message": text}, status, headers)
    if kind == PROTOBUF:
        return Response(status_bytes(text), status, headers, PROTOBUF)
    return PlainTextResponse(f"{text}\n", status, headers)
