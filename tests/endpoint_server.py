"""A real local server that speaks the OpenAI protocol (streaming off), with scripted replies."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock
from types import TracebackType
from typing import Any

from tests.local_server import LocalServer

LARGEST = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """The instructions."""
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        """The material of the first user turn."""
        return str(self.body["messages"][1]["content"])


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: `declared` is a Content-Length that may lie, `wait_s` a pause before it.

    With `drip_s` the body comes byte by byte with that pause. Without one the connection is closed.
    """

    body: bytes | None
    code: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    declared: int | None = None
    wait_s: float = 0.0
    drip_s: float = 0.0


def text(content: str, *, cached: int = 0, cut: bool = False, refusal: str | None = None) -> Answer:
    """A completion; tokens are counted as a quarter of the characters by the server."""
    return as_json(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "length" if cut else "stop",
                    "message": {
                        "role": "assistant",
                        "content": None if refusal else content,
                        "refusal": refusal,
                    },
                }
            ],
            "usage": {
                "prompt_tokens": -1,
                "completion_tokens": len(content) // 4,
                "total_tokens": 0,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
    )


def error(code: int, message: str, *, headers: Mapping[str, str] | None = None) -> Answer:
    """An error as OpenAI writes it."""
    told = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return Answer(json.dumps(told).encode(), code, headers or {})


def as_json(value: object) -> Answer:
    """Any JSON with status 200."""
    return Answer(json.dumps(value).encode())


def hang(seconds: float) -> Answer:
    """No reply at all for so long; stopping the server ends it."""
    return Answer(None, wait_s=seconds)


def truncated(content: str) -> Answer:
    """A reply that breaks off: fewer bytes than it says."""
    whole = text(content)
    return Answer(whole.body, declared=len(whole.body or b"") + 100)


Script = Callable[[Seen], Answer]


def embedded(seen: Seen) -> Answer:
    """Vectors as a real endpoint would send them."""
    return embeddings(seen.body)


class EndpointServer(LocalServer):
    """Serves while the block runs; `seen` are the requests, `most_at_once` how many overlapped."""

    def __init__(
        self,
        script: Script | Sequence[Answer],
        *,
        latency_s: float = 0.0,
        embeds: Script = embedded,
        port: int = 0,
    ) -> None:
        """A sequence is used up in order, its last answer again and again; port 0 is any."""
        self._script = script
        self._embeds = embeds
        self._latency_s = latency_s
        self._lock = Lock()
        self._stopping = Event()
        self._under_way = 0
        self.most_at_once = 0
        self.seen: list[Seen] = []
        self.errors: list[str] = []
        super().__init__(ThreadingHTTPServer(("127.0.0.1", port), _handler(self)))

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return f"http://{self.place}/v1"

    @property
    def chats(self) -> list[Seen]:
        """The requests for completions."""
        return [one for one in self.seen if one.path.endswith("/chat/completions")]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop at once: nothing that hangs is waited for."""
        self._stopping.set()
        super().__exit__(kind, value, trace)

    def answer(self, seen: Seen) -> Answer:
        """The scripted answer, after the latency."""
        with self._lock:
            self.seen.append(seen)
            number = len(self.seen) - 1
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            found = self._scripted(seen, number)
            self.pause(self._latency_s + found.wait_s)
            return found
        finally:
            with self._lock:
                self._under_way -= 1

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the server runs."""
        self._stopping.wait(seconds)

    def _scripted(self, seen: Seen, number: int) -> Answer:
        if seen.path.endswith("/embeddings"):
            return self._embeds(seen)
        if callable(self._script):
            try:
                return self._script(seen)
            except Exception as failure:  # noqa: BLE001 - the test reads what its script did
                self.errors.append(repr(failure))
                return error(500, repr(failure))
        return self._script[min(number, len(self._script) - 1)]


def embeddings(body: Mapping[str, Any]) -> Answer:
    """Hashed bags of words: texts that share words are near."""
    size = int(body.get("dimensions") or 64)
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    vectors = [_hashed(str(one), size) for one in texts]
    told: list[object] = list(vectors)
    if body.get("encoding_format") == "base64":
        told = [base64.b64encode(struct.pack(f"<{size}f", *v)).decode() for v in vectors]
    data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(told)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return as_json({"object": "list", "model": "scripted", "data": data, "usage": usage})


def _hashed(said: str, size: int) -> list[float]:
    vector = [0.0] * size
    for word in said.lower().split():
        vector[int(sha256(word.strip(".,").encode()).hexdigest(), 16) % size] += 1.0
    norm = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / norm for value in vector]


def _handler(server: EndpointServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each reply waits 40 ms for an acknowledgement

        def do_POST(self) -> None:
            size = min(int(self.headers.get("content-length", 0)), LARGEST)
            body = json.loads(self.rfile.read(size) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            found = server.answer(Seen(self.path, headers, body))
            try:
                self._send(found, body)
            except OSError:  # the client has gone
                self.close_connection = True

        def _send(self, found: Answer, body: Mapping[str, Any]) -> None:
            if found.body is None:
                self.close_connection = True
                return
            sent = found.body.replace(b'"prompt_tokens": -1', _prompt_tokens(body))
            self.send_response(found.code)
            self.send_header("content-type", "application/json")
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(found.declared or len(sent)))
            self.end_headers()
            for part in _parts(sent) if found.drip_s else (sent,):
                self.wfile.write(part)
                server.pause(found.drip_s)
            if found.declared:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    return Handler


def _parts(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


def _prompt_tokens(body: Mapping[str, Any]) -> bytes:
    characters = sum(len(str(one.get("content"))) for one in body.get("messages", ()))
    return f'"prompt_tokens": {characters // 4}'.encode()
