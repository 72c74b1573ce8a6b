"""Limits on the replies of an endpoint: their size, unpacked, and the time until they are whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from otel_rt4chart.core.deadline import Deadline

MIB = 1024 * 1024
# A completion has some kilobytes; the 256 whole vectors of a batch of texts have up to 20 MiB as
# decimals. Of an error, only the beginning of its message is shown.
MAX_REPLY_BYTES, MAX_VECTORS_BYTES, MAX_ERROR_BYTES = 4 * MIB, 32 * MIB, 64 * 1024
# Others, and several at once, could unpack a small chunk to gigabytes.
ENCODINGS = ("", "identity", "gzip", "deflate")

# Headers that no longer hold once the body is unpacked.
OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")


class ReplyLimitError(ValueError):
    """A reply that is too large, too slow, or packed in a way that is not bounded.

    A ValueError, like other replies that break the protocol: the request is not repeated.
    """


class SlowReplyError(ValueError):
    """The connection stands, but no byte of the reply came within the time-out.

    A ValueError, so that the client does not repeat the request: it would begin a slow model's work
    anew, often beside the work that nobody waits for any more.
    """


def bounded_client(
    client: type[Any], reply_s: float, clock: Callable[[], float] = time.monotonic
) -> type[Any]:
    """A subclass of the httpx client, whose whole replies are bounded; streams are not."""

    class BoundedClient(client):  # type: ignore[misc]
        """Reads replies part by part."""

        def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:  # noqa: ANN401
            with _slow_replies():
                response = super().send(request, stream=True, **options)
            if stream:
                return response
            try:
                with _slow_replies():
                    body = _read(response, Deadline(reply_s, clock=clock))
            finally:
                response.close()
            return type(response)(
                response.status_code,
                headers=[one for one in response.headers.items() if one[0] not in OF_THE_BODY],
                content=body,
                request=response.request,
                extensions=response.extensions,
            )

        def __del__(self) -> None:
            """Close the connections of a client that nobody closed, as the SDK does."""
            with suppress(Exception):
                self.close()

    return BoundedClient


@contextmanager
def _slow_replies() -> Iterator[None]:
    """Tell a reply that does not come from an address that cannot be reached."""
    try:
        yield
    except Exception as error:  # of httpx or httpx2, whichever openai has: known by its name
        if type(error).__name__ == "ReadTimeout":
            raise SlowReplyError from error
        raise


def _read(response: Any, deadline: Deadline) -> bytes:  # noqa: ANN401 - a response of httpx
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in ENCODINGS:
        raise ReplyLimitError(f"the reply has the encoding {packed[:40]!r}, expected gzip or none")
    is_error = response.status_code >= 400
    has_vectors = response.request.url.path.endswith("/embeddings")
    most = MAX_VECTORS_BYTES if has_vectors else MAX_REPLY_BYTES
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if is_error and len(body) > MAX_ERROR_BYTES:
            return bytes(body[:MAX_ERROR_BYTES])
        if len(body) > most:
            raise ReplyLimitError(f"the reply is larger than {most // MIB} MiB")
        if deadline.is_over:
            raise ReplyLimitError("the reply was not whole in time")
    return bytes(body)
