"""A server on a free local port, served by a thread while a block runs."""

from __future__ import annotations

from http.server import ThreadingHTTPServer
from socketserver import ThreadingTCPServer
from threading import Thread
from types import TracebackType
from typing import Self


class LocalServer:
    """Starts and stops the server that it is given; requests that hang are not waited for."""

    def __init__(self, server: ThreadingHTTPServer | ThreadingTCPServer) -> None:
        """`server` listens already; nothing is served yet."""
        self._server = server
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def place(self) -> str:
        """HOST:PORT."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Start serving."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop at once."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
