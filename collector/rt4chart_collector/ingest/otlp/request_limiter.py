"""The limit of requests and bytes in memory at once, for HTTP and gRPC together."""

from __future__ import annotations

from types import TracebackType

from rt4chart_collector.ingest.otlp.refusal import busy

RETRY_S = 1


class RequestLimiter:
    """Counts the requests in progress and their bytes; belongs to one event loop."""

    def __init__(self, *, requests: int, size_bytes: int) -> None:
        """No request is in progress."""
        self.requests = requests
        self.size_bytes = size_bytes
        self.taken_requests = 0
        self.taken_bytes = 0

    def slot(self) -> RequestSlot:
        """A slot for one request, as a context manager; RefusedError if none is left."""
        return RequestSlot(self)


class RequestSlot:
    """The bytes of one request, from the first byte read to its response."""

    def __init__(self, limiter: RequestLimiter) -> None:
        """Nothing is counted until the block begins."""
        self._limiter = limiter
        self._size_bytes = 0

    def __enter__(self) -> RequestSlot:
        """Count the request; RefusedError if there are too many."""
        if self._limiter.taken_requests >= self._limiter.requests:
            raise busy("too many requests at once", RETRY_S)
        self._limiter.taken_requests += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the request and its bytes."""
        self._limiter.taken_requests -= 1
        self._limiter.taken_bytes -= self._size_bytes

    def resize(self, size_bytes: int) -> None:
        """Set the size of the request; RefusedError if all requests together are too large."""
        self._limiter.taken_bytes += size_bytes - self._size_bytes
        self._size_bytes = size_bytes
        if self._limiter.taken_bytes > self._limiter.size_bytes:
            raise busy("too many bytes in requests at once", RETRY_S)
