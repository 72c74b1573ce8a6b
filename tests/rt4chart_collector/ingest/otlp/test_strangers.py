"""What strangers try on the service's HTTP addresses: paths, tokens, broken bytes."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.ingest.otlp.decode import Decoded, decode_spans
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue, ways_in
from tests.rt4chart_collector.otlp.messages import rag_trace, request
from tests.rt4chart_collector.service.beside import endpoint_of
from tests.tokens import guard_with

TOKEN = "the-right-one"  # noqa: S105 - of this test
PATHS = (
    "/../../../../etc/passwd",
    "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/v1/traces/../../../etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/....//....//etc/passwd",
    "/%c0%ae%c0%ae/etc/passwd",
    "/status/..%5c..%5cetc%5cpasswd",
    "//etc/passwd",
    "/file:///etc/passwd",
    "/local-api",
    "/../local-api",
    "/%00/etc/passwd",
    "/ping/../../local-api",
)
TOKENS = ("", "the-right-on", "the-right-onee", "THE-RIGHT-ONE", "\xff\xfe", "Bearer", "x" * 1000)
BODY = request(*rag_trace(1, start_ns=10**18, answer="The trial lasts 14 days."))


@contextmanager
def both(client: Client, queue: Queue) -> Iterator[dict[str, str]]:
    """The addresses of the receiver and of the local API, each with its token."""
    with (
        ways_in(Intake(queue.offer, guard=guard_with(ingest=TOKEN))) as served,
        serve_local_api(client.target),
    ):
        endpoint = endpoint_of(client)
        yield {served.url: TOKEN, f"http://127.0.0.1:{endpoint.port}": endpoint.token}


def raw(url: str, method: str, path: str, credentials: str = "") -> bytes:
    """A reply to a path exactly as it is written, which HTTP clients would tidy up."""
    parts = urlsplit(url)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 0\r\n"
    )
    head += f"Authorization: {credentials}\r\n" if credentials else ""
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as sent:
        sent.sendall(head.encode("latin-1") + b"\r\n")
        reply = b""
        while part := sent.recv(2**16):
            reply += part
        return reply


@pytest.mark.parametrize("shows_token", [False, True])
def test_no_path_leads_to_a_file(client: Client, shows_token: bool) -> None:
    """Thirteen spellings by three methods at two addresses: an error each, no file's content."""
    queue = Queue()
    with both(client, queue) as tokens:
        secrets = (b"root:", *(token.encode() for token in tokens.values()))
        replies = [
            raw(url, method, path, f"Bearer {token}" if shows_token else "")
            for url, token in tokens.items()
            for path in PATHS
            for method in ("GET", "POST", "PUT")
        ]

    assert len(replies) == 2 * 3 * len(PATHS)
    assert {reply.split()[1][:1] for reply in replies} == {b"4"}
    assert [reply for reply in replies if any(secret in reply for secret in secrets)] == []
    assert queue.offered == []


def test_wrong_token_reaches_nothing(client: Client) -> None:
    """Seven tokens in two schemes for three requests that need one: each refused, none taken."""
    queue = Queue()
    with both(client, queue) as (receiver, local):
        replies = [
            raw(url, method, path, f"{scheme} {token}")
            for method, url, path in (
                ("POST", receiver, "/v1/traces"),
                ("GET", local, "/?query=SELECT+1"),
                ("POST", local, "/?query=SELECT+1"),
            )
            for scheme in ("Bearer", "Basic")
            for token in TOKENS
        ]

    assert len(replies) == 3 * 2 * len(TOKENS)
    assert {reply.split()[1] for reply in replies} == {b"401"}
    assert queue.offered == []


def decodes(body: bytes) -> bool:
    """True where both decoders read the bytes, or refuse them with the error that is told."""
    for decode in (decode_spans, decode_json):
        try:
            if not isinstance(decode(body), Decoded):
                return False
        except InputError:
            continue
    return True


@given(
    st.lists(st.tuples(st.integers(0, len(BODY) - 1), st.integers(0, 255)), max_size=30),
    st.integers(0, len(BODY)),
)
@settings(max_examples=200)
def test_damaged_request_is_read_or_refused(damage: list[tuple[int, int]], end: int) -> None:
    """Bytes changed and the rest cut off."""
    body = bytearray(BODY)
    for at, byte in damage:
        body[at] = byte

    assert decodes(bytes(body[:end]))


def test_parts_of_requests_in_any_order_are_read_or_refused() -> None:
    """A thousand made of pieces of a right one, repeated and moved."""
    chance = random.Random(1)  # noqa: S311 - of a test
    for _ in range(1_000):
        cuts = [sorted(chance.randrange(len(BODY)) for _ in range(2)) for _ in range(4)]
        assert decodes(b"".join(BODY[first:last] for first, last in cuts))
