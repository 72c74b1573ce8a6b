"""The web application that answers in ClickHouse's HTTP protocol."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from rt4chart_collector.store.access.compress import chosen, compressed
from rt4chart_collector.store.access.engine import Engine, Result
from rt4chart_collector.store.access.errors import (
    AUTHENTICATION_FAILED,
    QUERY_IS_TOO_LARGE,
    REQUIRED_PASSWORD,
    STD_EXCEPTION,
    TOO_MANY_SIMULTANEOUS_QUERIES,
    RefusedError,
    refused,
)
from rt4chart_collector.store.access.request import Arrived, asked_from, token_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What may read, and what may write besides."""

    read: str
    write: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much at once: statements that run, requests in hand, a body's bytes, a request's time."""

    running: int = 4
    in_hand: int = 32
    body_bytes: int = 64 * 2**20
    request_s: float = 300.0


class Access:
    """An ASGI application; statements run on threads of its loop's pool, `running` at once."""

    def __init__(self, engine: Engine, tokens: Tokens, bounds: Bounds | None = None) -> None:
        """The engine is the caller's, who closes it after the application has ended."""
        self._engine = engine
        self._tokens = tokens
        self._bounds = bounds or Bounds()
        self._slots = asyncio.Semaphore(self._bounds.running)
        self._in_hand = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; one that takes too long, its reader included, is dropped."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        query_id = request.query_params.get("query_id") or str(uuid4())
        headers = {
            "X-ClickHouse-Query-Id": query_id
            if query_id.isprintable() and query_id.isascii()
            else "",
            "X-ClickHouse-Server-Display-Name": "rt4chart",
            "X-ClickHouse-Timezone": self._engine.timezone,
        }
        try:
            async with asyncio.timeout(self._bounds.request_s):
                await self._respond(request, headers, send)
        except (TimeoutError, ClientDisconnect):
            log.debug("a request was given up: its client is gone or too slow")

    async def _respond(self, request: Request, headers: dict[str, str], send: Send) -> None:
        if request.url.path == "/ping":
            await PlainTextResponse("Ok.\n")(request.scope, request.receive, send)
            return
        try:
            async with self._counted():
                arrived, may_write = await self._arrived(request)
                result = await self._run(arrived, may_write=may_write)
                try:
                    response = _answer(result, arrived, headers)
                    await response(request.scope, request.receive, send)
                finally:
                    result.file.close()
        except RefusedError as error:
            response = _failure(error, headers)
            await response(request.scope, request.receive, send)

    async def _arrived(self, request: Request) -> tuple[Arrived, bool]:
        """The request with its body, once its token was looked at."""
        arrived = Arrived(dict(request.query_params), dict(request.headers))
        may_write = self._right_of(token_of(arrived))
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > self._bounds.body_bytes:
                raise refused(
                    QUERY_IS_TOO_LARGE,
                    f"expected a body of at most {self._bounds.body_bytes} bytes",
                )
        return Arrived(arrived.url_parameters, arrived.headers, bytes(body)), may_write

    def _right_of(self, token: str) -> bool:
        """True where the token may write, False where it may read; else a RefusedError."""
        if not token:
            raise refused(
                REQUIRED_PASSWORD,
                "Authentication failed: expected a token (Authorization: Bearer, or as the "
                "password); it is in the file access-token in the database's folder, or "
                "RT4CHART_TOKEN",
            )
        given = token.encode()
        if hmac.compare_digest(given, self._tokens.write.encode()):
            return True
        if hmac.compare_digest(given, self._tokens.read.encode()):
            return False
        raise refused(AUTHENTICATION_FAILED, "Authentication failed: the token is not this one's")

    async def _run(self, arrived: Arrived, *, may_write: bool) -> Result:
        async with self._slots:
            return await run_in_threadpool(self._work, arrived, may_write)

    def _work(self, arrived: Arrived, may_write: bool) -> Result:
        try:
            asked = asked_from(arrived, may_write=may_write, max_bytes=4 * self._bounds.body_bytes)
            return self._engine.run(asked)
        except RefusedError:
            raise
        except Exception as error:  # process boundary: the client gets an answer
            log.error("a statement failed in an unexpected way: %s", type(error).__name__)
            raise refused(
                STD_EXCEPTION, f"{type(error).__name__}, a fault of the service's"
            ) from error

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        if self._in_hand >= self._bounds.in_hand:
            raise refused(
                TOO_MANY_SIMULTANEOUS_QUERIES,
                f"Too many simultaneous queries. Maximum: {self._bounds.in_hand}",
            )
        self._in_hand += 1
        try:
            yield
        finally:
            self._in_hand -= 1


def _answer(result: Result, arrived: Arrived, headers: Mapping[str, str]) -> Response:
    wants = arrived.url_parameters.get("enable_http_compression") == "1"
    encoding = chosen(arrived.headers.get("accept-encoding", "")) if wants else ""
    about = {**headers, "X-ClickHouse-Summary": json.dumps(dict(result.summary))}
    if result.format:
        about["X-ClickHouse-Format"] = result.format
    if encoding:
        about["Content-Encoding"] = encoding
    kind = (
        "text/plain; charset=UTF-8" if result.format.startswith("T") else "application/octet-stream"
    )
    return StreamingResponse(compressed(result.pieces(), encoding), headers=about, media_type=kind)


def _failure(error: RefusedError, headers: Mapping[str, str]) -> Response:
    about = {**headers, "X-ClickHouse-Exception-Code": str(error.code)}
    if error.status == 401:
        about["WWW-Authenticate"] = 'Basic realm="rt4chart"'
    return PlainTextResponse(error.text + "\n", status_code=error.status, headers=about)
