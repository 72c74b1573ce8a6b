"""The HTTP and gRPC servers: sockets, TLS, deadlines, and one event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX
from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.ingest.otlp.grpc_server import Server, bind, build_server
from rt4chart_collector.ingest.otlp.intake import Intake

# Twice the limit of requests at once (`intake.MAX_REQUESTS`): idle connections are kept alive.
CONNECTIONS = 512
# After the deadline uvicorn cancels its requests, which may take this long.
CANCEL_S = 2.0
NOWHERE = Address("", 0)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a certificate chain and of its private key, in PEM."""

    cert: str
    key: str

    def read(self) -> tuple[bytes, bytes]:
        """The key and the chain, in the order that gRPC expects."""
        return Path(self.key).read_bytes(), Path(self.cert).read_bytes()


def load_tls(cert: str, key: str) -> Tls | None:
    """The TLS files; None if neither is set, SettingsError if they cannot be used."""
    if not (cert or key):
        return None
    try:
        # With an empty password; otherwise OpenSSL asks for one at the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except OSError as error:
        raise SettingsError(
            f"{PREFIX}TLS_CERT and {PREFIX}TLS_KEY: expected a certificate chain and its private "
            f"key without a password, in PEM; got {cert!r} and {key!r}: {error}"
        ) from error
    return Tls(cert, key)


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
    stop_s: float,
) -> Iterator[Address]:
    """Serve OTLP over HTTP and gRPC; yields the address of gRPC.

    At the end, requests in progress are answered first. Raises SettingsError if gRPC cannot listen
    at its address.
    """
    web = _Servers(_config(app, tls, stop_s), tls, intake, grpc_address)
    with _running(web, bound, stop_s):
        yield web.listens_at.result()


@contextmanager
def serve_http(
    app: ASGIApp, bound: socket.socket, *, tls: Tls | None = None, stop_s: float
) -> Iterator[None]:
    """Serve an application over HTTP; at the end, requests in progress are answered first."""
    web = _Servers(_config(app, tls, stop_s), tls)
    with _running(web, bound, stop_s):
        web.listens_at.result()
        yield


@contextmanager
def _running(web: _Servers, bound: socket.socket, stop_s: float) -> Iterator[None]:
    thread = threading.Thread(target=web.run_both, args=(bound,), name="otlp", daemon=True)
    thread.start()
    try:
        yield
    finally:
        web.should_exit = True
        thread.join(stop_s + CANCEL_S)
        if thread.is_alive():
            log.error("requests were not finished in time; their clients retry them")


def _config(app: ASGIApp, tls: Tls | None, stop_s: float) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=DeadlineProtocol,
        # Warnings are about malformed requests, with which anyone could fill the log.
        log_level="error",
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        # Addresses in headers are not trusted; console/app/access.py decides on proxies.
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=max(round(stop_s), 1),
        ssl_certfile=tls.cert if tls else None,
        ssl_keyfile=tls.key if tls else None,
    )


class _Servers(uvicorn.Server):
    """The HTTP server, and the gRPC server that starts and stops with it, in one event loop."""

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


HEAD_S = 5.0
# Longer than `intake.BODY_S`, so that the client gets a response before it is cut off.
BODY_S = 35.0


class DeadlineProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with deadlines: closes a connection whose head or body arrives too late.

    The receiver's own timeout holds only while it reads a body; this one also covers requests that
    were refused before. h11 bounds the size of the head (16 KiB).
    """

    head_s = HEAD_S
    body_s = BODY_S
    _deadline: asyncio.TimerHandle | None = None
    _state: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline before the first byte."""
        super().connection_made(transport)
        self._note_state()

    def data_received(self, data: bytes) -> None:
        """Update the deadline when another part of a request begins."""
        super().data_received(data)
        self._note_state()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the deadline."""
        self._set_deadline(None)
        super().connection_lost(exc)

    def _note_state(self) -> None:
        """Restart the deadline for each part of a request, and end it after the last one."""
        state = self.conn.their_state
        if state is not self._state:
            self._state = state
            self._set_deadline({h11.IDLE: self.head_s, h11.SEND_BODY: self.body_s}.get(state))

    def _set_deadline(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        late = self.transport.abort
        self._deadline = None if seconds is None else self.loop.call_later(seconds, late)
