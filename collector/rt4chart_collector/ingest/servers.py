"""The HTTP and gRPC servers: sockets, TLS, deadlines, and one event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX
from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.ingest.http_protocol import ConnectionLimiter, LimitedProtocol
from rt4chart_collector.ingest.otlp.grpc_server import Server, bind, build_server
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.tls import Tls

# After the deadline uvicorn cancels its requests, which may take this long.
CANCEL_S = 2.0
NOWHERE = Address("", 0)

log = logging.getLogger(__name__)


@contextmanager
def bound_socket(address: Address, setting: str = "otlp_http") -> Iterator[socket.socket]:
    """A bound socket, closed at the end; SettingsError if the address is not available."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Inherited by accepted sockets; asyncio sets it only on sockets that name their protocol.
        # Without it, head and body of a response may be 40 ms apart (delayed ACK).
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            bound.bind(address)
        except OSError as error:
            reason = "in use" if error.errno == errno.EADDRINUSE else str(error.strerror)
            raise _not_listening(setting, address, reason) from error
        yield bound


def check_port_is_free(address: Address, setting: str) -> None:
    """SettingsError if something listens there; gRPC binds its own socket, later."""
    with bound_socket(address, setting):
        return


def _not_listening(setting: str, address: Address, reason: str) -> SettingsError:
    flag = setting.replace("_", "-")
    other = address._replace(port=address.port % 64_000 + 1_000)
    return SettingsError(
        f"{PREFIX}{setting.upper()}: cannot listen on {address}: {reason}; "
        f"stop what listens there, or choose another port (--{flag} {other})"
    )


def url_of(bound: socket.socket, tls: Tls | None = None) -> str:
    """The URL of the socket."""
    scheme = "https" if tls else "http"
    return f"{scheme}://{Address(*bound.getsockname()[:2])}"


@contextmanager
def serve_otlp(
    app: ASGIApp,
    bound: socket.socket,
    intake: Intake,
    grpc_address: Address,
    *,
    tls: Tls | None = None,
    limiter: ConnectionLimiter | None = None,
    stop_s: float,
) -> Iterator[Address]:
    """Serve OTLP over HTTP and gRPC; yields the address of gRPC.

    At the end, requests in progress are answered first. Raises SettingsError if gRPC cannot listen
    at its address.
    """
    web = _Servers(_config(app, tls, limiter, stop_s), tls, intake, grpc_address)
    with _running(web, bound, stop_s, "otlp"):
        yield web.listens_at.result()


@contextmanager
def serve_http(
    app: ASGIApp,
    bound: socket.socket,
    *,
    tls: Tls | None = None,
    stop_s: float,
    name: str = "http",
) -> Iterator[None]:
    """Serve an application over HTTP, in a thread of this name with an event loop of its own.

    At the end, requests in progress are answered first.
    """
    web = _Servers(_config(app, tls, None, stop_s), tls)
    with _running(web, bound, stop_s, name):
        web.listens_at.result()
        yield


@contextmanager
def _running(web: _Servers, bound: socket.socket, stop_s: float, name: str) -> Iterator[None]:
    thread = threading.Thread(target=web.run_both, args=(bound,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        web.should_exit = True
        thread.join(stop_s + CANCEL_S)
        if thread.is_alive():
            log.error("requests were not finished in time; their clients retry them")


def _config(
    app: ASGIApp, tls: Tls | None, limiter: ConnectionLimiter | None, stop_s: float
) -> uvicorn.Config:
    protocol = partial(LimitedProtocol, limiter=limiter or ConnectionLimiter())
    return uvicorn.Config(
        app,
        loop="asyncio",
        # uvicorn only calls it.
        http=protocol,  # type: ignore[arg-type]
        # Warnings are about malformed requests, with which anyone could fill the log.
        log_level="error",
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        # Addresses in headers are not trusted; console/app/access.py decides on proxies.
        proxy_headers=False,
        timeout_graceful_shutdown=max(round(stop_s), 1),
        ssl_certfile=tls.cert if tls else None,
        ssl_keyfile=tls.key if tls else None,
    )


class _Servers(uvicorn.Server):
    """The HTTP server, and the gRPC server that starts and stops with it, in one event loop."""

    handshake_s = 5.0

    def __init__(
        self,
        config: uvicorn.Config,
        tls: Tls | None,
        intake: Intake | None = None,
        grpc_address: Address | None = None,
    ) -> None:
        super().__init__(config)
        self._intake = intake
        self._grpc_address = grpc_address
        self._grpc: Server | None = None
        self._tls = tls
        self.listens_at: Future[Address] = Future()

    def run_both(self, bound: socket.socket) -> None:
        """The thread's function; `listens_at` gets the address of gRPC, or the error."""
        try:
            self.run([bound])
        except Exception as error:  # thread boundary: `listens_at` passes it on to the starter
            if self.listens_at.done():
                raise
            self.listens_at.set_exception(error)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        address = NOWHERE
        if self._intake is not None and self._grpc_address is not None:
            address = await self._start_grpc(self._intake, self._grpc_address)
        if self._tls is not None:
            # uvicorn has no setting for it, and asyncio waits for a minute.
            loop = asyncio.get_running_loop()
            limited = partial(loop.create_server, ssl_handshake_timeout=self.handshake_s)
            loop.create_server = limited  # type: ignore[method-assign]
        await super().startup(sockets)
        self.listens_at.set_result(address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        grace_s = self.config.timeout_graceful_shutdown
        web = super().shutdown(sockets)
        await (asyncio.gather(web, self._grpc.stop(grace_s)) if self._grpc else web)

    async def _start_grpc(self, intake: Intake, address: Address) -> Address:
        server = build_server(intake)
        try:
            port = bind(server, str(address), self._tls.read() if self._tls else None)
        except OSError as error:
            raise _not_listening("otlp_grpc", address, str(error)) from error
        await server.start()
        self._grpc = server
        return Address(address.host, port)
