"""A server of rates on the loopback that says what a test wants said."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.local_server import LocalServer


@dataclass
class RatesServer:
    """What it answers next, and what it was asked; `asked` is set at each request."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    seen: list[dict[str, str]] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    address: str = ""


@contextmanager
def serving() -> Iterator[RatesServer]:
    """Serve in a thread for as long as the context lasts."""
    state = RatesServer()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.seen.append({"path": self.path, **dict(self.headers)})
            self.send_response(state.status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)
            state.asked.set()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with LocalServer(ThreadingHTTPServer(("127.0.0.1", 0), Answer)) as server:
        state.address = f"http://{server.place}/rates"
        yield state
