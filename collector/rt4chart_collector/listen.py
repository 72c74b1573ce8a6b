"""The listening socket and the web server's thread behind it."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from otel_rt4chart.errors import SettingsError
from rt4chart_collector.settings import Address

REQUESTS = 256


@contextmanager
def listening(address: Address) -> Iterator[socket.socket]:
    """A bound socket, closed at the end; SettingsError where the address cannot be had."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
        except OSError as error:
            reason = "in use" if error.errno == errno.EADDRINUSE else error.strerror
            raise SettingsError(
                f"RT4CHART_OTLP_HTTP: cannot listen on {address.host}:{address.port}: {reason}; "
                "stop what listens there, or choose another port (--otlp-http 127.0.0.1:4319)"
            ) from error
        yield bound


def url_of(bound: socket.socket) -> str:
    """The address under which the socket takes requests."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def serving(app: ASGIApp, bound: socket.socket, *, stop_s: float) -> Iterator[None]:
    """Serve the application from a thread; at the end requests in hand are answered first."""
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            limit_concurrency=REQUESTS,
            timeout_graceful_shutdown=max(round(stop_s), 1),
        )
    )
    thread = threading.Thread(target=server.run, args=([bound],), name="otlp", daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
