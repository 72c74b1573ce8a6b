"""HTTP/1.1 with limits: of connections, of time, of the head, of chunks, and after a refusal."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

# Twice the limit of requests at once (`intake.MAX_REQUESTS`): idle connections are kept alive.
CONNECTIONS = 512
HEAD_S = 5.0
# Longer than `intake.BODY_S`, so that the client gets a response before it is cut off.
BODY_S = 35.0
# In each interval, a part of a body must come.
RATE_S, RATE_BYTES = 5.0, 1_000
HEAD_BYTES = 16 * 2**10
# Exporters send chunks of kilobytes; each chunk costs a call.
FREE_CHUNKS, BYTES_PER_CHUNK = 1_000, 64
PIPELINED = 16
# A client that is refused still sends its body. Closing at once would destroy the response.
LINGER_S, LINGER_BYTES = 10.0, 64 * 2**20

TOTAL, PER_CLIENT, SLOW, SMALL_CHUNKS, HEAD, PIPELINE = REASONS = (
    "total",
    "per_client",
    "slow",
    "small_chunks",
    "head",
    "pipeline",
)
BUSY_HEAD = b"retry-after: 1\r\n"


class ConnectionLimiter:
    """Counts the connections of a server, in all and by client address; for one event loop.

    Where there is no room, the connection that has waited longest for a request makes some: of the
    same address if that has too many, else of any.
    """

    def __init__(
        self,
        total: int = CONNECTIONS,
        per_client: int = CONNECTIONS // 2,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`note` is called with one of `REASONS` for each connection that is refused or cut off."""
        self.total = total
        self.per_client = per_client
        self.note = note
        self._connections: set[LimitedProtocol] = set()
        self._connections_of: Counter[str] = Counter()
        # In the order in which they began to wait.
        self._waiting: dict[LimitedProtocol, None] = {}

    def admit(self, connection: LimitedProtocol) -> str:
        """Count a connection, which waits; the reason if there is no room for it."""
        if self._connections_of[connection.address] >= self.per_client:
            self.note(PER_CLIENT)
            if not self._close_one(connection.address):
                return f"more than {self.per_client} connections from this address"
        elif len(self._connections) >= self.total:
            self.note(TOTAL)
            if not self._close_one():
                return f"more than {self.total} connections"
        self._connections.add(connection)
        self._connections_of[connection.address] += 1
        self._waiting[connection] = None
        return ""

    def release(self, connection: LimitedProtocol) -> None:
        """Forget a connection."""
        self._waiting.pop(connection, None)
        if connection in self._connections:
            self._connections.remove(connection)
            self._connections_of[connection.address] -= 1
        if not self._connections_of[connection.address]:
            del self._connections_of[connection.address]

    def set_waiting(self, connection: LimitedProtocol, *, waits: bool) -> None:
        """Note that a connection waits for a request, or that one has come."""
        if not waits:
            self._waiting.pop(connection, None)
        elif connection in self._connections:
            self._waiting[connection] = None

    def _close_one(self, address: str | None = None) -> bool:
        """Close the connection that waits longest; False if none does."""
        for connection in self._waiting:
            if address in (None, connection.address):
                self.release(connection)
                connection.transport.abort()
                return True
        return False


class Phase(Enum):
    """Which part of a request is expected next."""

    HEAD = auto()
    BODY = auto()
    NOTHING = auto()


class _CutOffError(Exception):
    """Ends the parsing of a connection that was cut off."""


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 on llhttp, for clients that are slow, greedy or hostile.

    A client that breaks a limit is told so and cut off. A response that begins before the request
    has ended is the last one of its connection, and the rest of the request is not parsed.
    """

    head_s = HEAD_S
    body_s = BODY_S
    rate_s = RATE_S
    linger_s = LINGER_S

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limiter: ConnectionLimiter,
    ) -> None:
        """`limiter` is shared by the connections of a server."""
        super().__init__(config, server_state, app_state, _loop)
        self._limiter = limiter
        self.address = ""
        self._phase = Phase.HEAD
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = self._body_bytes = self._chunks = 0
        self._checked_bytes, self._body_until = 0, 0.0
        # None before the response that ends the connection.
        self._linger_bytes: int | None = None
        self._is_stopping = False
        # True while a head is parsed that `_refuse_upgrade` made.
        self._is_resuming = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse the connection, or wait for its first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if reason := self._limiter.admit(self):
            text = f"expected fewer connections: {reason}; close idle ones, or try again later"
            self._write_response(503, text, BUSY_HEAD)
            transport.close()
        else:
            self._expect(Phase.HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection."""
        self._set_timer(None)
        self._limiter.release(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, unless the last response has begun."""
        if self._linger_bytes is not None:
            self._linger_bytes -= len(data)
            if self._linger_bytes < 0:
                self.transport.abort()
            return
        self._unset_keepalive_if_required()
        if self._phase is Phase.NOTHING:
            self._expect(Phase.HEAD)
        head_bytes = self._head_bytes
        try:
            self._parse(data)
            # A head whose end has not come is counted here, one that has in `on_header`.
            if self._phase is Phase.HEAD:
                self._head_bytes = head_bytes + len(data)
                self._check_head()
        except _CutOffError:
            return
        except httptools.HttpParserError as error:
            if not isinstance(error.__context__, _CutOffError):
                self.send_400_response("Invalid HTTP request received.")
            return
        if self._phase is Phase.BODY and self._timer is None:
            self._body_until = self.loop.time() + self.body_s
            self._set_timer(min(self.rate_s, self.body_s))

    def _parse(self, data: bytes) -> None:
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                self._refuse_upgrade()
            else:
                return

    def _refuse_upgrade(self) -> None:
        """Go on with HTTP/1.1: Java's client offers h2c with each request, and sends its body.

        The parser ended at the head. Another one gets as much of it as frames the body.
        """
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        if framing := self._framing():
            self._is_resuming = True
            self.parser.feed_data(b"POST / HTTP/1.1\r\n%s\r\n" % framing)

    def _framing(self) -> bytes:
        """The headers that say how long the body is; empty if there is none."""
        names = (b"content-length", b"transfer-encoding")
        return b"".join(b"%s: %s\r\n" % pair for pair in self.headers if pair[0] in names)

    def on_message_begin(self) -> None:
        """Begin a head."""
        if not self._is_resuming:
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Add a part of the URL."""
        if not self._is_resuming:
            self._head_bytes += len(url)
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header."""
        if self._is_resuming:
            return
        self._head_bytes += len(name) + len(value) + 4
        self._check_head()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin a request."""
        if self._is_resuming:
            self._is_resuming = False
            return
        super().on_headers_complete()
        self._limiter.set_waiting(self, waits=False)
        self._expect(Phase.BODY)
        self._head_bytes = self._body_bytes = self._checked_bytes = self._chunks = 0
        if len(self.pipeline) > PIPELINED:
            self._cut_off(PIPELINE, 400, f"expected at most {PIPELINED} pipelined requests")
        cycle, send = self.cycle, self.cycle.send

        async def send_last(message: Any) -> None:  # noqa: ANN401 - of uvicorn's own type
            if cycle.more_body and not cycle.response_started:
                cycle.keep_alive = False
            await send(message)

        cycle.send = send_last  # type: ignore[method-assign]
        cycle.transport = _ResponseTransport(self)  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        """Add a chunk of the body, or a part of it."""
        self._chunks += 1
        self._body_bytes += len(body)
        if self._chunks > FREE_CHUNKS + self._body_bytes // BYTES_PER_CHUNK:
            text = f"expected chunks of {BYTES_PER_CHUNK} bytes or more; send larger ones"
            self._cut_off(SMALL_CHUNKS, 400, text)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        if self.parser.should_upgrade() and self._framing():
            return
        self._expect(Phase.NOTHING)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self._phase is not Phase.BODY:
            self._limiter.set_waiting(self, waits=True)

    def end_response(self) -> None:
        """Close after the last response; where its request is incomplete, discard the rest."""
        if self._phase is not Phase.BODY or self._is_stopping:
            self.transport.close()
        elif self._linger_bytes is None:
            self._linger()

    def shutdown(self) -> None:
        """End with the response in progress, and wait for no rest of a request."""
        self._is_stopping = True
        if self._linger_bytes is None:
            super().shutdown()
        else:
            self.transport.close()

    def _expect(self, phase: Phase) -> None:
        self._phase = phase
        # The timer of a body is set when it does not come with its head.
        self._set_timer(self.head_s if phase is Phase.HEAD else None)

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._check_time)

    def _check_time(self) -> None:
        """Cut the client off if it is late; else look again later."""
        self._timer = None
        cycle: RequestResponseCycle | None = self.cycle
        is_answering = cycle is not None and not cycle.response_complete
        if self._linger_bytes is not None:
            self.transport.abort()
        elif self._phase is Phase.HEAD:
            if is_answering:
                self._set_timer(self.head_s)
            else:
                self._limiter.note(SLOW)
                self.transport.abort()
        elif self._phase is Phase.BODY:
            self._check_rate()

    def _check_rate(self) -> None:
        left = self._body_until - self.loop.time()
        is_slow = self._body_bytes - self._checked_bytes < RATE_BYTES and not self.flow.read_paused
        self._checked_bytes = self._body_bytes
        if left > 0 and not is_slow:
            self._set_timer(min(self.rate_s, left))
            return
        text = f"expected {RATE_BYTES} bytes every {self.rate_s:g} s, in all {self.body_s:g} s"
        try:
            self._cut_off(SLOW, 408, f"{text}; send smaller batches")
        except _CutOffError:
            self.transport.close()

    def _check_head(self) -> None:
        if self._head_bytes > HEAD_BYTES:
            self._cut_off(HEAD, 431, f"expected at most {HEAD_BYTES} bytes of headers")

    def _cut_off(self, reason: str, status: int, text: str) -> None:
        """Answer, end the request within the application, and discard what still comes."""
        self._limiter.note(reason)
        last: RequestResponseCycle | None = self.cycle
        if last is None or last.response_complete or not last.response_started:
            self._write_response(status, text)
        for cycle in (last, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
        self._linger()
        raise _CutOffError(text)

    def _write_response(self, status: int, text: str, headers: bytes = b"") -> None:
        body = f"{text}\n".encode()
        length = b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        kind = b"content-type: text/plain; charset=utf-8\r\n"
        self.transport.write(STATUS_LINE[status] + headers + kind + length + body)

    def _linger(self) -> None:
        """Read for a while without parsing: the client finds the response when it has sent all."""
        self._linger_bytes = LINGER_BYTES
        self._set_timer(self.linger_s)
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            with suppress(OSError):  # the client has reset the connection
                self.transport.write_eof()


class _ResponseTransport:
    """The transport as a response uses it: its end is decided by the protocol."""

    def __init__(self, protocol: LimitedProtocol) -> None:
        self._protocol = protocol
        self.write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing

    def close(self) -> None:
        self._protocol.end_response()
