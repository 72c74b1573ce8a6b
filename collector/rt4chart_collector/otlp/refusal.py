"""Why a request is not taken, in words that both ways in share."""

from __future__ import annotations

from enum import Enum, auto

from otel_rt4chart.errors import RT4ChartError


class Fault(Enum):
    """What is wrong; OTLP over HTTP and over gRPC each have a code for it."""

    MALFORMED = auto()
    UNSUPPORTED = auto()
    UNAUTHENTICATED = auto()
    TOO_LARGE = auto()
    SLOW = auto()
    BUSY = auto()


class RefusedError(RT4ChartError):
    """Nothing of the request was taken; the text is for whoever runs the client."""

    def __init__(self, fault: Fault, text: str, *, retry_s: int | None = None) -> None:
        """`retry_s` is there where the client should send the same again."""
        super().__init__(text)
        self.fault = fault
        self.retry_s = retry_s


def busy(reason: str, retry_s: int) -> RefusedError:
    """The client keeps the spans and sends them again after that many seconds."""
    return RefusedError(Fault.BUSY, f"{reason}; send it again", retry_s=retry_s)


def too_large(limit: int) -> RefusedError:
    """The client must make smaller requests."""
    return RefusedError(
        Fault.TOO_LARGE,
        f"expected at most {limit} bytes, packed and unpacked; send smaller batches",
    )
