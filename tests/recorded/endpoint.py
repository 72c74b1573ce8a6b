"""A local OpenAI-compatible endpoint for recordings: one answer, streamed or not, and vectors."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.recorded.shelf import (
    ANSWER,
    QUESTION,
    SUMMARIES,
    SUMMARISE,
    TEXTS,
    UNANSWERED,
    words,
)

MODEL = "local-chat"
SIZE = 64
Json = dict[str, Any]


@contextmanager
def serve() -> Iterator[str]:
    """Serve while the block runs; yields the base URL for clients."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def message(body: Mapping[str, Any]) -> Json:
    """The reply: a call of the first tool if none was called, else text, or nothing at all."""
    messages = body.get("messages", [])
    tools = body.get("tools")
    if tools and not any(message.get("role") == "tool" for message in messages):
        return {"role": "assistant", "content": None, "tool_calls": [_call(tools[0]["function"])]}
    if any(UNANSWERED in str(message.get("content")) for message in messages):
        return {"role": "assistant", "content": None}
    text = _summary(str(messages[-1].get("content"))) if messages else ANSWER
    # DSPy requests named fields.
    if any("[[ ## answer ## ]]" in str(message.get("content")) for message in messages):
        thought = "[[ ## reasoning ## ]]\nThe texts say so.\n\n"
        wants = any("[[ ## reasoning ## ]]" in str(message.get("content")) for message in messages)
        text = f"{thought * wants}[[ ## answer ## ]]\n{ANSWER}\n\n[[ ## completed ## ]]"
    return {"role": "assistant", "content": text}


def _summary(request: str) -> str:
    """The summary of the text that the request is about, else the answer."""
    about = (SUMMARIES[one.id] for one in TEXTS if one.id in SUMMARIES and one.text in request)
    return next(about, ANSWER) if SUMMARISE in request else ANSWER


def _call(function: Mapping[str, Any]) -> Json:
    name = next(iter(function["parameters"]["properties"]))
    arguments = json.dumps({name: QUESTION})
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": function["name"], "arguments": arguments},
    }


def completion(body: Mapping[str, Any]) -> Json:
    """A whole chat completion."""
    reply = message(body)
    choice = {"index": 0, "message": reply, "finish_reason": _finish(reply), "logprobs": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [choice],
        "usage": {"prompt_tokens": 60, "completion_tokens": 12, "total_tokens": 72},
    }


def chunks(body: Mapping[str, Any]) -> Iterator[Json]:
    """A streamed chat completion: one word a chunk, the usage at the end."""
    reply = message(body)
    pieces: list[Json] = [{"role": "assistant", "content": ""}]
    pieces += [{"content": word} for word in (reply["content"] or "").split(" ") if word]
    for piece in pieces[2:]:
        piece["content"] = " " + piece["content"]
    calls = [{"index": n, **call} for n, call in enumerate(reply.get("tool_calls", ()))]
    pieces += [{"tool_calls": calls}] if calls else []
    frame = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "usage": None,
    }
    for piece in pieces:
        yield {**frame, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]}
    yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]}
    usage = {"prompt_tokens": 60, "completion_tokens": 12, "total_tokens": 72}
    yield {**frame, "choices": [], "usage": usage}


def _finish(reply: Mapping[str, Any]) -> str:
    return "tool_calls" if reply.get("tool_calls") else "stop"


def embeddings(body: Mapping[str, Any]) -> Json:
    """Hashed bags of words: texts with common words are close."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    vectors: list[object] = [vector(str(text)) for text in texts]
    if body.get("encoding_format") == "base64":
        vectors = [base64.b64encode(struct.pack(f"<{SIZE}f", *v)).decode() for v in vectors]  # type: ignore[misc]
    data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "local-embedding", "data": data, "usage": usage}


def vector(text: str) -> list[float]:
    """A vector of length one."""
    found = [0.0] * SIZE
    for word in words(text):
        found[int(sha256(word.encode()).hexdigest(), 16) % SIZE] += 1.0
    norm = math.sqrt(sum(value * value for value in found)) or 1.0
    return [value / norm for value in found]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path.endswith("/chat/completions"):
            body = json.loads(raw)
            if body.get("stream"):
                events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks(body)]
                return self._send("".join(events) + "data: [DONE]\n\n", "text/event-stream")
            return self._send(json.dumps(completion(body)))
        if self.path.endswith("/embeddings"):
            return self._send(json.dumps(embeddings(json.loads(raw))))
        # Enough for the exporters of the packages' own services, which are directed here.
        return self._send("{}")

    do_GET = do_POST  # noqa: N815 - the standard library's name

    def _send(self, text: str, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""
