"""Reasons to refuse a request, and the replies of OTLP over HTTP and gRPC (google.rpc.Status)."""

from __future__ import annotations

from enum import Enum, auto

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ExceptionHandler

from otel_rt4chart.core.errors import RT4ChartError


class Fault(Enum):
    """The reason why a request is refused; HTTP and gRPC each have a status code for it."""

    MALFORMED = auto()
    UNSUPPORTED = auto()
    UNAUTHENTICATED = auto()
    THROTTLED = auto()
    TOO_LARGE = auto()
    TOO_MANY_OBJECTS = auto()
    SLOW = auto()
    BUSY = auto()


class RefusedError(RT4ChartError):
    """No span of the request was accepted; the text is for the operator of the client."""

    def __init__(self, fault: Fault, text: str, *, retry_s: int | None = None) -> None:
        """`retry_s` is set where the client should send the request again."""
        super().__init__(text)
        self.fault = fault
        self.retry_s = retry_s


def busy(reason: str, retry_s: int) -> RefusedError:
    """The error for a busy service: the client retries after `retry_s` seconds."""
    return RefusedError(Fault.BUSY, f"{reason}; send it again", retry_s=retry_s)


def too_large(limit: int) -> RefusedError:
    """The error for a request that is too large: a retry would not help."""
    return RefusedError(
        Fault.TOO_LARGE,
        f"expected at most {limit} bytes, compressed and decompressed; send smaller batches",
    )


def status_bytes(text: str, *, code: int = 0, retry_s: int | None = None) -> bytes:
    """A Status with this text; `code` is gRPC's number, which OTLP over HTTP does not use."""
    details: list[AnyMessage] = []
    if retry_s is not None:
        details.append(AnyMessage())
        details[0].Pack(_retry_info(retry_s))
    message: bytes = Status(code=code, message=text, details=details).SerializeToString()
    return message


def retry_bytes(retry_s: int) -> bytes:
    """A serialized RetryInfo."""
    message: bytes = _retry_info(retry_s).SerializeToString()
    return message


def _retry_info(retry_s: int) -> RetryInfo:
    return RetryInfo(retry_delay=Duration(seconds=retry_s))


PROTOBUF, JSON = "application/x-protobuf", "application/json"
STATUSES = {
    Fault.MALFORMED: 400,
    Fault.UNAUTHENTICATED: 401,
    Fault.SLOW: 408,
    Fault.TOO_LARGE: 413,
    Fault.TOO_MANY_OBJECTS: 413,
    Fault.UNSUPPORTED: 415,
    Fault.THROTTLED: 429,
    Fault.BUSY: 503,
}


def content_type(request: Request) -> str:
    """The media type of the request's body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _handle_refusal(request: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedError):
        raise error
    return _error_response(request, STATUSES[error.fault], str(error), _headers_of(error))


async def _handle_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return _error_response(request, error.status_code, error.detail, dict(error.headers or {}))


HANDLERS: dict[object, ExceptionHandler] = {
    HTTPException: _handle_error,
    RefusedError: _handle_refusal,
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


def _error_response(request: Request, status: int, text: str, headers: dict[str, str]) -> Response:
    """A google.rpc.Status in the encoding of the request; plain text for other encodings."""
    kind = content_type(request)
    if kind == JSON:
        return JSONResponse({"message": text}, status, headers)
    if kind == PROTOBUF:
        return Response(status_bytes(text), status, headers, PROTOBUF)
    return PlainTextResponse(f"{text}\n", status, headers)
