"""How much may be read and decoded at once, over both ways in together."""

from __future__ import annotations

from types import TracebackType

from rt4chart_collector.ingest.otlp.refusal import busy

RETRY_S = 1


class Room:
    """Counts the requests in hand and their bytes; belongs to one event loop."""

    def __init__(self, *, requests: int, size_bytes: int) -> None:
        """Empty."""
        self.requests = requests
        self.size_bytes = size_bytes
        self.taken_requests = 0
        self.taken_bytes = 0

    def place(self) -> Place:
        """A request's place, for a `with`; RefusedError at its start where none is left."""
        return Place(self)


class Place:
    """The bytes that one request takes up, from the first to its answer."""

    def __init__(self, room: Room) -> None:
        """Nothing is taken until the block begins."""
        self._room = room
        self._size_bytes = 0

    def __enter__(self) -> Place:
        """Take a place."""
        if self._room.taken_requests >= self._room.requests:
            raise busy("too many requests at once", RETRY_S)
        self._room.taken_requests += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give it back."""
        self._room.taken_requests -= 1
        self._room.taken_bytes -= self._size_bytes

    def resize(self, size_bytes: int) -> None:
        """Take up that many bytes from now on; RefusedError where all requests have too many."""
        self._room.taken_bytes += size_bytes - self._size_bytes
        self._size_bytes = size_bytes
        if self._room.taken_bytes > self._room.size_bytes:
            raise busy("too many bytes in requests at once", RETRY_S)
