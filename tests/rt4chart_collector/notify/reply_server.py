"""A real local server in the place of ticket systems: it keeps what comes, and answers by rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.local_server import LocalServer


@dataclass(frozen=True, slots=True)
class Came:
    """One request: header names in lower case, the query's first values, the body as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:  # noqa: ANN401 - JSON
        """The body's JSON."""
        return json.loads(self.raw)


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back."""

    body: object = None
    code: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class ReplyServer(LocalServer):
    """Serves while the block runs; `came` are the requests in order."""

    def __init__(self, answer: Callable[[Came], Reply]) -> None:
        """`answer` makes the reply to each request."""
        self.came: list[Came] = []
        super().__init__(ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.came, answer)))

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{self.place}"


def _handler(came: list[Came], answer: Callable[[Came], Reply]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            one = Came(self.command, parts.path, query, headers, body)
            came.append(one)
            self._send(answer(one))

        do_POST = do_GET  # noqa: N815 - the server's own names

        def _send(self, reply: Reply) -> None:
            body = b"" if reply.body is None else json.dumps(reply.body).encode()
            self.send_response(reply.code)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    return Handler
