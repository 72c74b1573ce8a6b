"""A ClickHouse server for tests: the embedded engine behind real HTTP, as its clients expect it.

    python -m tests.clickhouse_server FOLDER PORT [ADDRESS]

It takes what clickhouse_connect sends to a server: a password, multipart forms, lz4. Who starts the
process may kill it.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import httpx
import lz4.frame
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.ingest.servers import bound_socket, serve_http
from rt4chart_collector.service.local_api import TRANSPORT
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.engine.raw_statements import RawStatement, StatementError, run_raw

PASSWORD = "of-the-tests"  # noqa: S105 - of this test
BASIC = "Basic " + b64encode(f"rt4chart:{PASSWORD}".encode()).decode()
ROWS = b"INSERT INTO "
PATIENCE_S = 60
HOST = "127.0.0.1"


class ClickHouseServer:
    """An ASGI application over the database at `path`, which this process has open."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        response = await self._answer(request, await request.body())
        await response(scope, receive, send)

    async def _answer(self, request: Request, body: bytes) -> Response:
        if request.url.path == "/ping":
            return PlainTextResponse("Ok.\n")
        if request.headers.get("authorization") != BASIC:
            return PlainTextResponse("Code: 516. DB::Exception: wrong password\n", 403)
        statement = _statement(request, body)
        try:
            result = await run_in_threadpool(run_raw, self._path, statement)
        except StatementError as error:
            code = {"X-ClickHouse-Exception-Code": str(error.code)}
            return PlainTextResponse(f"{error}\n", 500, headers=code)
        summary = json.dumps({"written_rows": str(result.written_rows)})
        return Response(result.data, headers={"X-ClickHouse-Summary": summary})


def _statement(request: Request, body: bytes) -> RawStatement:
    given = dict(request.query_params)
    kind = request.headers.get("content-type", "")
    if request.headers.get("content-encoding") == "lz4":
        body = _plain(body)
    if kind.startswith("multipart/form-data"):
        given |= _fields(kind, body)
        body = b""
    head, line, rows = body.partition(b"\n")
    has_rows = kind == "application/octet-stream" and head.startswith(ROWS) and bool(line)
    return RawStatement(
        given.pop("query", "") or (head if has_rows else body).decode(),
        given.get("database", "default"),
        {
            name: value
            for name, value in given.items()
            if name not in {*TRANSPORT, "enable_http_compression"} and name[:6] != "param_"
        },
        {name[6:]: value for name, value in given.items() if name[:6] == "param_"},
        io.BytesIO(rows) if has_rows else None,
    )


def _plain(body: bytes) -> bytes:
    """All the frames of a body."""
    plain = b""
    while body:
        frame = lz4.frame.LZ4FrameDecompressor()
        plain += frame.decompress(body)
        body = frame.unused_data or b""
    return plain


def _fields(kind: str, body: bytes) -> dict[str, str]:
    form = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    return {_name(part): _text(part) for part in form.walk() if not part.is_multipart()}


def _name(part: Message) -> str:
    return str(part.get_param("name", header="content-disposition"))


def _text(part: Message) -> str:
    value = part.get_payload(decode=True)
    assert isinstance(value, bytes)
    return value.decode()


@contextmanager
def served(path: str, port: int = 0, host: str = HOST) -> Iterator[str]:
    """The server over this process's database while the block runs; the DSN without a database."""
    with (
        bound_socket(Address(host, port), "otlp_http") as bound,
        serve_http(ClickHouseServer(path), bound, stop_s=1),
    ):
        yield dsn_of(bound.getsockname()[1], host).removesuffix("otel")


@contextmanager
def database(folder: Path, port: int, host: str = HOST) -> Iterator[subprocess.Popen[bytes]]:
    """The server as a process while the block runs; it is killed at the end."""
    command = [sys.executable, "-m", __name__, str(folder), str(port), host]
    with subprocess.Popen(command) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while not _answers(port, host):
                assert time.monotonic() < until
                time.sleep(0.1)
            yield process
        finally:
            process.kill()


def dsn_of(port: int, host: str = HOST) -> str:
    """How the service reaches it."""
    return f"http://rt4chart:{PASSWORD}@{host}:{port}/otel"


def _answers(port: int, host: str) -> bool:
    try:
        return httpx.get(f"http://{host}:{port}/ping").status_code == 200
    except httpx.TransportError:
        return False


def main(folder: str, port: str, host: str = HOST) -> None:
    """Serve until killed."""
    with connect(f"chdb://{folder}"), served(folder, int(port), host):
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
