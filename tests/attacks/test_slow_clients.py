"""Slow, greedy and rude clients of the HTTP server take neither its loop nor its connections."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.ingest.http_protocol import (
    FREE_CHUNKS,
    HEAD_BYTES,
    PIPELINED,
    ConnectionLimiter,
    LimitedProtocol,
)
from rt4chart_collector.ingest.otlp.http_server import build_app
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.servers import _Servers, bound_socket, serve_otlp
from rt4chart_collector.service.health import Health
from rt4chart_collector.service.http_routes import health_routes, serve_health
from tests.attacks.scale import scaled
from tests.polling import WITHIN_S, wait_until
from tests.rt4chart_collector.ingest.otlp.ways_in import (
    ANY_PORT,
    Queue,
    certificate,
    ways_in,
)
from tests.rt4chart_collector.otlp.messages import request, span
from tests.tokens import guard_with

PROTOBUF = {"content-type": "application/x-protobuf"}
HEAD = b"POST /v1/traces HTTP/1.1\r\nhost: t\r\ncontent-type: application/x-protobuf\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
GET = b"GET /healthz HTTP/1.1\r\nhost: t\r\n\r\n"
TOKEN = "s3cret"  # noqa: S105 - of this test


@contextmanager
def limited(total: int, per_client: int) -> Iterator[tuple[Address, Counter[str]]]:
    """A server with so many connections; its address, and the reasons why it closed some."""
    reasons: Counter[str] = Counter()
    limiter = ConnectionLimiter(total, per_client, lambda reason: reasons.update([reason]))
    intake = Intake(Queue().offer)
    with bound_socket(ANY_PORT) as bound:
        app = build_app(intake, health_routes(Health()))
        with serve_otlp(app, bound, intake, ANY_PORT, limiter=limiter, stop_s=1):
            yield Address(*bound.getsockname()[:2]), reasons


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side ends the connection."""
    connection.settimeout(WITHIN_S)
    parts = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts += part
    return parts


def one_answer(connection: socket.socket) -> bytes:
    """The next answer on a connection that stays open."""
    connection.settimeout(WITHIN_S)
    found = b""
    while b"\r\n\r\n" not in found:
        found += connection.recv(65536)
    head, _, body = found.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    assert length, head
    while len(body) < int(length[1]):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def send_all(connection: socket.socket, data: bytes) -> None:
    """Send what the other side takes."""
    connection.settimeout(WITHIN_S)
    with contextlib.suppress(ConnectionError):
        connection.sendall(data)


def test_body_in_pieces_of_a_byte_is_cut_off() -> None:
    """With the reason; a megabyte of them costs no more than the first thousand."""
    with limited(8, 8) as (address, reasons), socket.create_connection(address) as greedy:
        send_all(greedy, CHUNKED + b"1\r\nx\r\n" * scaled(50_000, 1_000_000))
        answer = received(greedy)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"send larger ones" in answer
    assert reasons == {"small_chunks": 1}


def test_chunks_of_an_ordinary_exporter_are_no_small_ones() -> None:
    """Kilobytes each; and a small body may come in any pieces."""
    body = request(*(span(number) for number in range(1, 2_000)))
    with ways_in(Intake(Queue().offer)) as served:
        sizes = (4_096, 64)
        parts = [[body[at : at + size] for at in range(0, len(body), size)] for size in sizes]
        small = request(span())
        parts.append([small[at : at + 1] for at in range(len(small))])
        assert len(small) < FREE_CHUNKS
        answers = [
            httpx.post(f"{served.url}/v1/traces", content=iter(one), headers=PROTOBUF)
            for one in parts
        ]

    assert [answer.status_code for answer in answers] == [200, 200, 200]


def test_stranger_is_answered_once_and_not_parsed_any_further() -> None:
    """401 and the end of the connection: what follows is no second request."""
    queue = Queue()
    with (
        ways_in(Intake(queue.offer, guard=guard_with(ingest=TOKEN))) as served,
        served.connect() as stranger,
    ):
        send_all(stranger, CHUNKED)
        answer = one_answer(stranger)
        send_all(stranger, b"1\r\nx\r\n" * scaled(50_000, 1_000_000) + b"0\r\n\r\n" + GET)
        answer += received(stranger)

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"connection: close" in answer.lower()
    assert answer.count(b"HTTP/1.1") == 1


def test_connections_that_are_reset_write_no_line(caplog: pytest.LogCaptureFixture) -> None:
    """Whenever the reset comes: also while a refusal is on its way."""
    with ways_in(Intake(Queue().offer, guard=guard_with(ingest=TOKEN))) as served:
        for number in range(scaled(300, 3_000)):
            with served.connect() as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                send_all(client, HEAD + b"content-length: 9\r\n\r\nabc")
                time.sleep(number % 10 / 5_000)

    assert caplog.messages == []


def test_complete_refused_request_keeps_its_connection() -> None:
    """A client with a wrong token need not connect again for each request."""
    answers: list[bytes] = []
    with (
        ways_in(Intake(Queue().offer, guard=guard_with(ingest=TOKEN))) as served,
        served.connect() as client,
    ):
        for _ in range(2):
            # In one piece: the body is there before the answer.
            send_all(client, HEAD + b"content-length: 3\r\n\r\nabc")
            answers.append(one_answer(client))

    assert [answer[:13] for answer in answers] == [b"HTTP/1.1 401 "] * 2
    assert b"connection" not in answers[0].lower()


def test_client_below_the_least_rate_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """408 long before the deadline of a whole body."""
    monkeypatch.setattr(LimitedProtocol, "rate_s", 0.2)
    with limited(8, 8) as (address, reasons), socket.create_connection(address) as slow:
        send_all(slow, HEAD + b"content-length: 100000\r\n\r\nx")
        answer = received(slow)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert reasons == {"slow": 1}


def test_idle_connection_is_closed_before_its_first_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also one that sends empty lines, which are no request."""
    monkeypatch.setattr(LimitedProtocol, "head_s", 0.3)
    with limited(8, 8) as (address, reasons), ExitStack() as stack:
        idle, blank = (stack.enter_context(socket.create_connection(address)) for _ in range(2))
        send_all(blank, b"\r\n")
        ends = received(idle), received(blank)

    assert ends == (b"", b"")
    assert reasons == {"slow": 2}


def test_connection_without_a_handshake_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is no client yet, so no other limit counts it."""
    monkeypatch.setattr(_Servers, "handshake_s", 0.3)
    tls = certificate(tmp_path)
    with ways_in(Intake(Queue().offer), tls=tls) as served, served.connect() as silent:
        end = received(silent)

    assert end == b""


def test_empty_lines_after_an_answer_hold_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """They end the time of a kept connection and begin that of a head."""
    monkeypatch.setattr(LimitedProtocol, "head_s", 0.3)
    with limited(8, 8) as (address, _), socket.create_connection(address) as rude:
        send_all(rude, GET)
        wait_until(lambda: b"ok" in rude.recv(65536, socket.MSG_PEEK))
        send_all(rude, b"\r\n")
        answer = received(rude)

    assert answer.count(b"HTTP/1.1 200 ") == 1


def test_idle_connections_make_room_for_a_new_one() -> None:
    """The one that waits longest is closed: of the same address if that has too many."""
    with limited(20, 10) as (address, reasons), ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(address)) for _ in range(40)]
        answer = httpx.get(f"http://{address}/healthz")
        ends = received(idle[0])

    assert answer.text == "ok\n"
    assert ends == b""
    assert reasons["per_client"] >= 31


def test_other_address_finds_room_beside_one_that_takes_all() -> None:
    """127.0.0.2 is another client; requests in progress are not closed for it."""
    with limited(8, 4) as (address, reasons), ExitStack() as stack:
        busy = [stack.enter_context(socket.create_connection(address)) for _ in range(4)]
        for connection in busy:
            send_all(connection, HEAD + b"content-length: 9\r\nexpect: 100-continue\r\n\r\n")
            assert b"100 Continue" in connection.recv(100)
        refused = stack.enter_context(socket.create_connection(address))
        answer = received(refused)
        other = stack.enter_context(
            socket.create_connection(address, source_address=("127.0.0.2", 0))
        )
        send_all(other, GET)
        wait_until(lambda: b"ok\n" in other.recv(65536, socket.MSG_PEEK))

    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"more than 4 connections from this address" in answer
    assert reasons["per_client"] == 1


def test_total_of_connections_holds_for_all_addresses() -> None:
    """A connection with a request is not closed; the new one is refused, with a time to retry."""
    with limited(2, 2) as (address, reasons), ExitStack() as stack:
        for number in (2, 3):
            source = (f"127.0.0.{number}", 0)
            connection = stack.enter_context(
                socket.create_connection(address, source_address=source)
            )
            send_all(connection, HEAD + b"content-length: 9\r\nexpect: 100-continue\r\n\r\n")
            assert b"100 Continue" in connection.recv(100)
        answer = received(stack.enter_context(socket.create_connection(address)))

    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in answer
    assert reasons["total"] == 1


def test_connections_that_end_are_counted_no_more() -> None:
    """A client may come and go as often as it likes."""
    with limited(2, 2) as (address, reasons):
        for _ in range(10):
            with socket.create_connection(address) as connection:
                send_all(connection, GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
                assert received(connection).endswith(b"ok\n")

    assert reasons == {}


@pytest.mark.parametrize("head", [b"x-long: " + b"x" * 50_000, b"a: b\r\n" * 10_000])
def test_head_is_limited(head: bytes) -> None:
    """One long header, or many short ones that come at once."""
    with limited(8, 8) as (address, reasons), socket.create_connection(address) as greedy:
        send_all(greedy, HEAD + head + b"\r\n\r\n")
        answer = received(greedy)

    assert answer.startswith(b"HTTP/1.1 431 ")
    assert str(HEAD_BYTES).encode() in answer
    assert reasons == {"head": 1}


def test_pipelined_requests_are_limited() -> None:
    """Each would be held in memory until the one before is answered."""
    with limited(8, 8) as (address, reasons), socket.create_connection(address) as greedy:
        send_all(greedy, GET * 1_000)
        received(greedy)
    with limited(8, 8) as (address, few), socket.create_connection(address) as modest:
        send_all(modest, GET * PIPELINED)
        wait_until(lambda: modest.recv(65536, socket.MSG_PEEK).count(b"ok\n") == PIPELINED)

    assert reasons == {"pipeline": 1}
    assert few == {}


def test_offer_of_another_protocol_is_ignored() -> None:
    """Some clients offer HTTP/2 with each request, and have a body and further requests."""
    upgrade = b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n"
    queue = Queue()
    body = request(span())
    post = HEAD + upgrade + b"content-length: %d\r\n\r\n" % len(body) + body
    chunked = HEAD + upgrade + b"transfer-encoding: chunked\r\n\r\n%x\r\n" % len(body) + body
    with ways_in(Intake(queue.offer)) as served, served.connect() as client:
        for number, sent in enumerate((post, chunked + b"\r\n0\r\n\r\n", post), 1):
            # The head alone, and the rest later.
            send_all(client, sent[: 400 - 100 * number])
            send_all(client, sent[400 - 100 * number :])
            assert one_answer(client).startswith(b"HTTP/1.1 200 ")
            assert len(queue.offered) == number
        send_all(client, GET.replace(b"\r\n\r\n", b"\r\n" + upgrade + b"\r\n"))
        assert one_answer(client).startswith(b"HTTP/1.1 404 ")

    assert queue.span_ids == ["0" * 15 + "1"] * 3


def test_health_answers_whatever_happens_on_the_port_for_spans() -> None:
    """It has a listener, a thread and connections of its own."""
    health = Health(is_starting=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        own = Address(*probe.getsockname())
    with limited(8, 8) as (address, _), ExitStack() as stack:
        stack.enter_context(serve_health(health, own))
        before = httpx.get(f"http://{own}/readyz")
        health.start()
        for _ in range(scaled(32, 1_000)):
            stack.enter_context(socket.create_connection(address))
        for _ in range(scaled(2, 16)):
            greedy = stack.enter_context(socket.create_connection(address))
            send_all(greedy, CHUNKED + b"1\r\nx\r\n" * scaled(10_000, 100_000))
        answers = [httpx.get(f"http://{own}{path}") for path in ("/healthz", "/readyz")]
        nothing = httpx.get(f"http://{own}/status")

    assert before.json() == {"ready": False, "reason": "starting"}
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].json() == {"ready": True}
    assert nothing.status_code == 404
