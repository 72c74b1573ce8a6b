"""The limits of requests, bytes and objects in memory at once, for HTTP and gRPC together."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType

from rt4chart_collector.ingest.otlp.refusal import RefusedError, busy

RETRY_S = 1


class RequestLimiter:
    """Counts the requests in progress and their bytes; belongs to one event loop.

    One client address may have `share` of the requests and of the bytes, so that others find room.
    """

    def __init__(
        self, *, requests: int, size_bytes: int, share: float = 1.0, kind: str = "requests"
    ) -> None:
        """No request is in progress; `kind` is what they are called in errors."""
        self.kind = kind
        self.requests = requests
        self.size_bytes = size_bytes
        self.share = share
        self.taken_requests = 0
        self.taken_bytes = 0
        self.requests_of: Counter[str] = Counter()
        self.bytes_of: Counter[str] = Counter()

    def slot(self, client: str = "") -> RequestSlot:
        """A slot for one request of this address, as a context manager.

        RefusedError if none is left.
        """
        return RequestSlot(self, client)

    def add(self, client: str, requests: int, size_bytes: int) -> None:
        """Count requests and bytes of a client, or with negative numbers their end."""
        self.taken_requests += requests
        self.taken_bytes += size_bytes
        # An address without a request leaves no entry behind.
        self.requests_of[client] += requests
        self.bytes_of[client] += size_bytes
        if not self.requests_of[client]:
            del self.requests_of[client], self.bytes_of[client]

    def check(self, client: str) -> None:
        """RefusedError if there are too many requests or bytes, of this client or in all."""
        if self.taken_requests > self.requests:
            raise busy(f"too many {self.kind} at once", RETRY_S)
        if self.requests_of[client] > self.requests * self.share:
            raise busy(f"too many {self.kind} at once from this address", RETRY_S)
        if self.taken_bytes > self.size_bytes:
            raise busy(f"too many bytes in {self.kind} at once", RETRY_S)
        if self.bytes_of[client] > self.size_bytes * self.share:
            raise busy(f"too many bytes in {self.kind} at once from this address", RETRY_S)


class RequestSlot:
    """The bytes of one request, from the first byte read to its response."""

    def __init__(self, limiter: RequestLimiter, client: str) -> None:
        """Nothing is counted until the block begins."""
        self._limiter = limiter
        self._client = client
        self._size_bytes = 0

    def __enter__(self) -> RequestSlot:
        """Count the request; RefusedError if there are too many."""
        self._limiter.add(self._client, 1, 0)
        try:
            self._limiter.check(self._client)
        except RefusedError:
            self._limiter.add(self._client, -1, 0)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the request and its bytes."""
        self._limiter.add(self._client, -1, -self._size_bytes)

    def resize(self, size_bytes: int) -> None:
        """Set the size of the request; RefusedError if all requests together are too large."""
        grown = size_bytes - self._size_bytes
        self._size_bytes = size_bytes
        self._limiter.add(self._client, 0, grown)
        if grown > 0:
            self._limiter.check(self._client)


class ObjectLimiter:
    """Makes requests wait, in their order, until their objects fit in memory with the others.

    Belongs to one event loop. A request with more than all of the objects waits until it is alone.
    """

    def __init__(self, objects: int) -> None:
        """Nothing is decoded."""
        self._objects = self._free = objects
        self._turn = asyncio.Lock()
        self._released = asyncio.Event()

    @asynccontextmanager
    async def room(self, objects: int) -> AsyncIterator[None]:
        """Room for so many objects while the block runs."""
        taken = min(objects, self._objects)
        async with self._turn:
            while self._free < taken:
                self._released.clear()
                await self._released.wait()
            self._free -= taken
        try:
            yield
        finally:
            self._free += taken
            self._released.set()
