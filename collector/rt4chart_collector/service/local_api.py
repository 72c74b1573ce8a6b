"""The local API of a running service: access to its embedded database for this user's commands.

It implements the part of ClickHouse's HTTP interface that `store.engine.connect` uses: a POST to
`/` whose body is a statement, a form with `query` and `param_NAME`, or an INSERT with its rows.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.console.app.page_threads import PageThreads
from rt4chart_collector.ingest.servers import bound_socket, serve_http
from rt4chart_collector.service.stages import Shutdown
from rt4chart_collector.store.engine.dsn import Target
from rt4chart_collector.store.engine.embedded_folder import LocalEndpoint, published_endpoint
from rt4chart_collector.store.engine.raw_statements import (
    RawResult,
    RawStatement,
    StatementError,
    cancel_all,
    run_raw,
)

HOST = "127.0.0.1"
FORM = "application/x-www-form-urlencoded"
ROWS = "application/octet-stream"
# Parameters that clickhouse_connect adds for HTTP; the engine would reject them as settings.
TRANSPORT = {
    *("database", "query_id", "wait_end_of_query", "client_protocol_version"),
    *("send_progress_in_http_headers", "http_headers_progress_interval_ms"),
}
MIB = 2**20
CHUNK = 256 * 1024
STOP_S = 1.0
# A statement that was cancelled has this time to end. Some functions cannot be interrupted.
CANCEL_S, CANCEL_PAUSE_S = 2.0, 0.2


@dataclass(frozen=True, slots=True)
class LocalApiLimits:
    """Statements and requests at once, bytes of a body, and seconds.

    `running_s` is for a statement and its wait for a thread, `reading_s` for a client to read the
    result.
    """

    running: int = 4
    running_s: float = 120.0
    requests: int = 32
    statement_bytes: int = 16 * MIB
    rows_bytes: int = 256 * MIB
    reading_s: float = 300.0


class LocalApiRefusalError(Exception):
    """A request that is answered with an HTTP status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        """`reason` says what was expected."""
        super().__init__(reason)
        self.status = status


class LocalApi:
    """An ASGI application over the embedded database at `path`, which the caller keeps open."""

    def __init__(self, path: str, token: str, limits: LocalApiLimits | None = None) -> None:
        """`token` must be sent with every request."""
        self._path = path
        self._token = token.encode()
        self._limits = limits or LocalApiLimits()
        self._is_closed = False
        # Threads that can be waited for: a request may be gone while its statement still runs.
        self._threads = PageThreads(
            self._limits.running, self._limits.running_s, name="local API statement"
        )
        self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; it is dropped if its client is gone or too slow."""
        if scope["type"] != "http":
            return
        with suppress(ClientDisconnect, TimeoutError):
            await self._answer(Request(scope, receive), send)

    async def _answer(self, request: Request, send: Send) -> None:
        try:
            self._check(request)
            async with self._counted(), _read_statement(request, self._limits) as statement:
                rows, headers = await self._run(statement)
                with rows:
                    response = StreamingResponse(_chunks(rows), headers=headers)
                    async with asyncio.timeout(self._limits.reading_s):
                        await response(request.scope, request.receive, send)
        except LocalApiRefusalError as error:
            refusal = PlainTextResponse(f"{error}\n", error.status)
            await refusal(request.scope, request.receive, send)
        except StatementError as error:
            code = {"X-ClickHouse-Exception-Code": str(error.code)}
            failure = PlainTextResponse(f"{error}\n", 500, headers=code)
            await failure(request.scope, request.receive, send)

    async def _run(self, statement: RawStatement) -> tuple[IO[bytes], dict[str, str]]:
        """The result in a spooled file: a slow reader must not occupy memory or a slot."""
        try:
            result = await self._threads.run(lambda: self._run_unless_closed(statement))
        except TimeoutError as error:
            raise LocalApiRefusalError(
                504, f"expected a statement to end within {self._limits.running_s:g} s"
            ) from error
        headers = {
            "Content-Length": str(len(result.data)),
            "X-ClickHouse-Summary": json.dumps({"written_rows": str(result.written_rows)}),
        }
        return _spooled(result.data), headers

    def _run_unless_closed(self, statement: RawStatement) -> RawResult:
        if self._is_closed:
            raise StatementError("the service is stopping")
        return run_raw(self._path, statement)

    def close(self, shutdown: Shutdown) -> None:
        """Begin no statement any more, and cancel those that run until they have ended."""
        self._is_closed = True
        deadline = Deadline(CANCEL_S)
        while (alive := self._threads.alive) and not deadline.is_over:
            cancel_all(self._path)
            alive[0].join(CANCEL_PAUSE_S)
        shutdown.join_readers(alive, 0.0)

    def _check(self, request: Request) -> None:
        """Refuse unauthorized requests before reading the body."""
        # A web page could reach the port through a host name of its own (DNS rebinding).
        if request.headers.get("host", "").partition(":")[0] != HOST:
            raise LocalApiRefusalError(403, f"expected the header Host to be {HOST}")
        authorization = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(authorization, b"Bearer " + self._token):
            raise LocalApiRefusalError(401, "expected the token that this service has published")
        if (request.method, request.url.path) != ("POST", "/"):
            raise LocalApiRefusalError(404, "expected POST /")

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        if self._requests >= self._limits.requests:
            # clickhouse_connect retries a read after this status.
            raise LocalApiRefusalError(
                503, f"expected at most {self._limits.requests} requests at once"
            )
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1


@contextmanager
def serve_local_api(
    target: Target, limits: LocalApiLimits | None = None, *, shutdown: Shutdown | None = None
) -> Iterator[None]:
    """Let this user's other processes use the embedded database while the block runs.

    A ClickHouse server needs no local API. At the end, running statements are cancelled; if one
    does not end, `shutdown` becomes late, and the engine must not be closed.
    """
    if not target.path:
        yield
        return
    with ExitStack() as stack:
        bound = stack.enter_context(bound_socket(Address(HOST, 0), "local_api"))
        endpoint = LocalEndpoint(bound.getsockname()[1])
        app = LocalApi(target.path, endpoint.token, limits)
        # Statements end before the server stops, so that their clients get an answer.
        stack.enter_context(serve_http(app, bound, stop_s=STOP_S))
        stack.callback(app.close, shutdown or Shutdown(0.0))
        stack.enter_context(published_endpoint(Path(target.path), endpoint))
        yield


@asynccontextmanager
async def _read_statement(request: Request, limits: LocalApiLimits) -> AsyncIterator[RawStatement]:
    """The statement of a request, with its rows in a file that is deleted after the block."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    most = limits.rows_bytes if kind == ROWS else limits.statement_bytes
    with _spooled() as body:
        async for piece in request.stream():
            if body.tell() + len(piece) > most:
                raise LocalApiRefusalError(413, f"expected a body of at most {most} bytes")
            body.write(piece)
        body.seek(0)
        try:
            statement = _parse_statement(request.query_params, body, kind)
        except UnicodeDecodeError as error:
            raise LocalApiRefusalError(400, f"expected a statement in UTF-8: {error}") from error
        yield statement


def _parse_statement(url: Mapping[str, str], body: IO[bytes], kind: str) -> RawStatement:
    fields = dict(url)
    if kind == FORM:
        fields |= parse_qsl(body.read().decode(), keep_blank_values=True)
    text = fields.pop("query", "") or (body.readline() if kind == ROWS else body.read()).decode()
    return RawStatement(
        text,
        fields.get("database", "default"),
        settings={
            name: value
            for name, value in fields.items()
            if name not in TRANSPORT and not name.startswith("param_")
        },
        parameters={
            name.removeprefix("param_"): value
            for name, value in fields.items()
            if name.startswith("param_")
        },
        rows=body if kind == ROWS else None,
    )


def _spooled(data: bytes = b"") -> IO[bytes]:
    file = SpooledTemporaryFile(MIB)  # noqa: SIM115 - the caller closes it
    file.write(data)
    file.seek(0)
    return file


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(CHUNK):
        yield piece
