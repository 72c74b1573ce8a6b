"""Both servers: TLS, slow clients, addresses in use, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import grpc
import httpx
import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings_parsers import Address
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import REQUESTS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.http_protocol import LimitedProtocol
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.servers import (
    bound_socket,
    check_port_is_free,
    serve_http,
    url_of,
)
from rt4chart_collector.ingest.tls import load_tls
from rt4chart_collector.service.http_routes import operations_app
from rt4chart_collector.service.status import Status
from tests.polling import WITHIN_S, wait_until
from tests.rt4chart_collector.ingest.otlp.ways_in import (
    ANY_PORT,
    Queue,
    WaysIn,
    certificate,
    unary,
    ways_in,
)
from tests.rt4chart_collector.otlp.messages import request, span
from tests.tokens import guard_with

PROTOBUF = {"content-type": "application/x-protobuf"}
HEAD = b"POST /v1/traces HTTP/1.1\r\nhost: t\r\ncontent-type: application/x-protobuf\r\n"


@pytest.fixture
def queue() -> Queue:
    """An empty queue."""
    return Queue()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines that a test can wait for."""
    monkeypatch.setattr(LimitedProtocol, "head_s", 0.3)
    monkeypatch.setattr(LimitedProtocol, "body_s", 0.8)


def test_both_servers_speak_tls(queue: Queue, tmp_path: Path) -> None:
    """A client that trusts the certificate is answered, one in the clear is not."""
    files = certificate(tmp_path)
    tls = load_tls(files.cert, files.key)

    with ways_in(Intake(queue.offer), tls=tls) as served:
        trusting = ssl.create_default_context(cafile=files.cert)
        url = f"{served.url}/v1/traces"
        httpx.post(url, content=request(span(1)), headers=PROTOBUF, verify=trusting)
        roots = grpc.ssl_channel_credentials(Path(files.cert).read_bytes())
        with grpc.secure_channel(served.address, roots) as channel:
            unary(channel)(request(span(2)), timeout=10)
        with served.channel() as plain, pytest.raises(grpc.RpcError) as refused:
            unary(plain)(request(span(3)), timeout=10)
        with pytest.raises(httpx.TransportError):
            httpx.get(served.url.replace("https", "http"))

    assert served.url.startswith("https://127.0.0.1:")
    assert queue.span_ids == ["0" * 15 + "1", "0" * 15 + "2"]
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side ends the connection."""
    parts = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts += part
    return parts


def dribbled(slow: socket.socket, more: bytes) -> bool:
    """Send a little more; True if the other side has ended the connection."""
    slow.sendall(more)
    slow.settimeout(0.05)
    try:
        return not slow.recv(1)
    except TimeoutError:
        return False


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    "begun", [b"", b"POST /v1/tra", HEAD + b"content-length: 9\r\n\r\nx"], ids=["", "head", "body"]
)
def test_client_that_dribbles_holds_no_other(queue: Queue, begun: bytes) -> None:
    """It is cut off at its deadline; meanwhile others are answered."""
    with ways_in(Intake(queue.offer)) as served, served.connect() as slow:
        begin = time.monotonic()
        slow.sendall(begun)
        answer = httpx.post(
            f"{served.url}/v1/traces", content=request(span()), headers=PROTOBUF, timeout=10
        )
        with contextlib.suppress(ConnectionError):
            wait_until(lambda: dribbled(slow, b"x" if begun else b""))
        took = time.monotonic() - begin

    assert answer.status_code == 200
    # Not before its deadline.
    assert took > 0.2
    assert len(queue.offered) == 1


@pytest.mark.usefixtures("hurried")
def test_rest_of_a_refused_body_is_not_waited_for(queue: Queue) -> None:
    """A client without the token gets 401, and its connection ends though its body never comes."""
    with (
        ways_in(Intake(queue.offer, guard=guard_with(ingest="s3cret"))) as served,
        served.connect() as stranger,
    ):
        stranger.settimeout(WITHIN_S)
        stranger.sendall(HEAD + b"content-length: 1000\r\n\r\nx")
        answer = received(stranger)

    assert answer.startswith(b"HTTP/1.1 401 ")


def test_refused_requests_are_counted_by_their_fault(queue: Queue) -> None:
    """Over both ways in, in one count; one whose client went away is among them."""
    metrics = ServiceMetrics()
    queue.is_full = True
    with ways_in(Intake(queue.offer, metrics=metrics)) as served, served.channel() as channel:
        for body in (request(span()), b"no request"):
            httpx.post(f"{served.url}/v1/traces", content=body, headers=PROTOBUF)
            with pytest.raises(grpc.RpcError):
                unary(channel)(body)
        with served.connect() as leaving:
            leaving.sendall(HEAD + b"content-length: 9\r\n\r\nx")
        wait_until(lambda: metrics.counts(REQUESTS)["http", "malformed"] == 2)

    assert +Counter(metrics.counts(REQUESTS)) == {
        ("grpc", "busy"): 1,
        ("grpc", "malformed"): 1,
        ("http", "busy"): 1,
        ("http", "malformed"): 2,
    }


def test_stranger_with_a_large_body_reads_why_it_was_refused(queue: Queue) -> None:
    """It sends the rest, which is thrown away, and then finds the answer."""
    with ways_in(Intake(queue.offer, guard=guard_with(ingest="s3cret"))) as served:
        answer = httpx.post(
            f"{served.url}/v1/traces", content=bytes(20_000_000), headers=PROTOBUF, timeout=30
        )

    assert answer.status_code == 401
    assert "RT4CHART_INGEST_TOKEN" in answer.text


@pytest.mark.usefixtures("hurried")
def test_kept_connection_takes_one_request_after_the_other(queue: Queue) -> None:
    """The deadline is that of a request, not of a connection."""
    with ways_in(Intake(queue.offer)) as served, httpx.Client() as client:
        for number in (1, 2, 3):
            client.post(f"{served.url}/v1/traces", content=request(span(number)), headers=PROTOBUF)
            time.sleep(0.4)

    assert len(queue.span_ids) == 3


def test_head_has_a_limit(queue: Queue) -> None:
    """431, and the connection ends."""
    with ways_in(Intake(queue.offer)) as served, served.connect() as long:
        with contextlib.suppress(ConnectionError):
            long.sendall(HEAD + b"x-long: " + b"x" * 200_000)
        answer = received(long)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    assert queue.offered == []


def test_taken_address_of_grpc_is_named(queue: Queue) -> None:
    """Before anything else is begun, and also where it is taken in between."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address(*taken.getsockname())
        with pytest.raises(SettingsError, match=r"RT4CHART_OTLP_GRPC: cannot listen on .*: in use"):
            check_port_is_free(address, "otlp_grpc")


def test_requests_in_hand_are_answered_before_the_end() -> None:
    """Over both; a request after that is not taken."""
    stored: Future[int] = Future()
    offered: list[Sequence[SpanRecord]] = []
    stored.set_running_or_notify_cancel()

    def offer(spans: Sequence[SpanRecord], _: int) -> Future[int]:
        offered.append(spans)
        return stored

    def send(served: WaysIn) -> Iterator[Future[object]]:
        yield pool.submit(
            httpx.post, f"{served.url}/v1/traces", content=request(span()), headers=PROTOBUF
        )
        yield pool.submit(unary(channel), request(span()))

    with ThreadPoolExecutor(2) as pool, contextlib.ExitStack() as stack:
        with ways_in(Intake(offer)) as served:
            channel = stack.enter_context(served.channel())
            answers = list(send(served))
            wait_until(lambda: len(offered) == 2)
            threading.Timer(0.2, stored.set_result, (None,)).start()
        web, answer = (one.result(1) for one in answers)
        with pytest.raises(grpc.RpcError):
            unary(channel)(request(span()), timeout=5)

    assert isinstance(web, httpx.Response)
    assert (web.status_code, answer) == (200, b"")


def test_end_waits_no_longer_than_its_limit() -> None:
    """Clients that were not answered send again."""
    stored: Future[int] = Future()
    stored.set_running_or_notify_cancel()
    offered = threading.Event()

    def offer(_: Sequence[SpanRecord], __: int) -> Future[int]:
        offered.set()
        return stored

    with ways_in(Intake(offer), stop_s=1) as served, served.channel() as channel:
        call = unary(channel).future(request(span()))
        assert offered.wait(10)

    # The end came although nothing was stored.
    assert not stored.done()
    assert call.done()
    stored.set_result(0)


def test_accepted_sockets_send_at_once(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """TCP_NODELAY, or an answer's body may come 40 ms after its head."""
    found: list[int] = []
    made = LimitedProtocol.connection_made

    def noting(self: LimitedProtocol, transport: asyncio.Transport) -> None:
        accepted = transport.get_extra_info("socket")
        found.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        made(self, transport)

    monkeypatch.setattr(LimitedProtocol, "connection_made", noting)
    with ways_in(Intake(queue.offer)) as served:
        assert httpx.get(f"{served.url}/nothing").status_code == 404

    assert found == [1]


def test_operators_are_served_without_a_way_in() -> None:
    """For a process that takes its spans from elsewhere; at the end nobody listens any more."""
    app = operations_app(Status(ServiceMetrics()), guard_with())
    with bound_socket(ANY_PORT) as bound:
        url = url_of(bound)
        with serve_http(app, bound, stop_s=1):
            ready = httpx.get(f"{url}/readyz")
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/readyz")

    assert ready.json() == {"ready": True}


def test_client_that_holds_a_connection_does_not_hold_the_end(queue: Queue) -> None:
    """Idle, or in the middle of a body."""
    with contextlib.ExitStack() as stack:
        with ways_in(Intake(queue.offer), stop_s=1) as served:
            idle = stack.enter_context(served.connect())
            slow = stack.enter_context(served.connect())
            idle.sendall(b"GET /nothing HTTP/1.1\r\nhost: t\r\n\r\n")
            assert b"404" in idle.recv(100)
            slow.sendall(HEAD + b"content-length: 9\r\n\r\nx")
            # An end that waits for its clients comes when this closes their connections.
            watchdog = threading.Timer(WITHIN_S, stack.close)
            watchdog.start()
        assert watchdog.is_alive()
        watchdog.cancel()
