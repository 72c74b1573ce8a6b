"""The access while a service runs: its socket, its tokens, its address beside the database."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from otel_rt4chart.core.settings_parsers import Address as Place
from rt4chart_collector.ingest.sockets import LATE_S, listening, url_of
from rt4chart_collector.store.access.address import Address, address_left, new_token, read_token
from rt4chart_collector.store.access.engine import Engine
from rt4chart_collector.store.access.server import Access, Tokens
from rt4chart_collector.store.target import Target

CONNECTIONS = 64
URL_BYTES = 256 * 1024
STOP_S = 1


@contextmanager
def accessible(target: Target, place: Place | None, *, token: str = "") -> Iterator[str]:
    """Let other processes at the embedded database while the block runs; the URL, or "" for none.

    `place` None turns it off; a server needs none. `token` may read, and is made up where it is
    empty. Raises SettingsError where the address cannot be had.
    """
    if place is None or not target.path:
        yield ""
        return
    folder = Path(target.path)
    with ExitStack() as stack:
        bound = stack.enter_context(listening(place, "access"))
        tokens = Tokens(read_token(folder, token), new_token())
        stack.enter_context(_served(Access(Engine(target.path), tokens), bound))
        stack.enter_context(address_left(folder, Address(url_of(bound), tokens.write)))
        yield url_of(bound)


@contextmanager
def _served(app: ASGIApp, bound: socket.socket) -> Iterator[None]:
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=URL_BYTES,
            timeout_graceful_shutdown=STOP_S,
        )
    )
    thread = threading.Thread(target=server.run, args=([bound],), name="access", daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = True
        # A statement that runs longer is not waited for.
        thread.join(STOP_S + LATE_S)
