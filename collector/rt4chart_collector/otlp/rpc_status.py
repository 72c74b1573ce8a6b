"""google.rpc.Status: how OTLP says over HTTP and over gRPC what is wrong and when to send again."""

from __future__ import annotations

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status


def status_bytes(text: str, *, code: int = 0, retry_s: int | None = None) -> bytes:
    """A Status with that text; `code` is gRPC's number, which OTLP over HTTP does not use."""
    details: list[AnyMessage] = []
    if retry_s is not None:
        details.append(AnyMessage())
        details[0].Pack(_retry_info(retry_s))
    message: bytes = Status(code=code, message=text, details=details).SerializeToString()
    return message


def retry_bytes(retry_s: int) -> bytes:
    """A RetryInfo alone."""
    message: bytes = _retry_info(retry_s).SerializeToString()
    return message


def _retry_info(retry_s: int) -> RetryInfo:
    return RetryInfo(retry_delay=Duration(seconds=retry_s))
