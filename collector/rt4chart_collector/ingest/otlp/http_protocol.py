"""uvicorn's HTTP/1.1 with deadlines: a client that sends byte by byte loses its connection."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 5.0
# Longer than the receiver waits for a body, so that the client is told first.
BODY_S = 35.0


class PunctualProtocol(H11Protocol):
    """Cuts a connection whose request line and headers, or whose body, are late.

    The receiver waits for a body only where it reads it: this holds for those that it refused
    before, too. The size of the head is bounded by h11 (16 KiB).
    """

    head_s = HEAD_S
    body_s = BODY_S
    _deadline: asyncio.TimerHandle | None = None
    _state: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The clock runs before the first byte."""
        super().connection_made(transport)
        self._note_state()

    def data_received(self, data: bytes) -> None:
        """More of a request, or the first of the next."""
        super().data_received(data)
        self._note_state()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is expected."""
        self._set_deadline(None)
        super().connection_lost(exc)

    def _note_state(self) -> None:
        """Start the clock where the client began another part, stop it where all has come."""
        state = self.conn.their_state
        if state is not self._state:
            self._state = state
            self._set_deadline({h11.IDLE: self.head_s, h11.SEND_BODY: self.body_s}.get(state))

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        late = self.transport.abort
        self._deadline = None if seconds is None else self.loop.call_later(seconds, late)
