"""Sending: to one address, over TLS or to this machine, without a secret in what is told."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from threading import Event, Thread

import pytest

from otel_rt4chart.core.errors import NotifyError
from rt4chart_collector.sending.sender import Sender, is_address
from tests.rt4chart_clustering.tickets.systems_server import Came, Reply, SystemsServer

SECRET = "hush-hush-1"  # noqa: S105 - no password


def sent(url: str, timeout_s: float = 10.0) -> object:
    """What a request with a secret brings back."""
    return Sender("github", (SECRET,), timeout_s).send(
        "POST", url, {"Authorization": SECRET}, b"{}"
    )


def test_a_redirection_is_not_followed() -> None:
    """The key is for the address that was named: nothing goes to the other one."""
    with SystemsServer(lambda _: Reply({})) as other:
        moved = Reply(None, 307, {"Location": other.url})
        with (
            SystemsServer(lambda _: moved) as server,
            pytest.raises(NotifyError, match="redirects"),
        ):
            sent(server.url)

        assert other.came == []


def test_a_refusal_is_told_with_its_reason_and_without_the_secret() -> None:
    """On one line, bounded, and without what could steer a terminal."""

    def answer(one: Came) -> Reply:
        said = f"bad \x1b[2J {one.headers['authorization']}\n" + "x" * 9_000
        return Reply({"message": said}, 401)

    with SystemsServer(answer) as server, pytest.raises(NotifyError) as raised:
        sent(server.url)

    told = str(raised.value)
    assert told.startswith("github: 401: ")
    assert "***" in told
    assert SECRET not in told
    assert len(told) < 300
    assert told.isprintable()


@pytest.mark.parametrize("body", ["no object", [1], None])
def test_a_reply_that_is_no_json_object_is_whatever_it_is(body: object) -> None:
    """Each system says what it expected."""
    with SystemsServer(lambda _: Reply(body)) as server:
        assert sent(server.url) == body


def test_a_system_that_is_away_is_told_as_such() -> None:
    """Nobody listens there, or nobody answers in time."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(NotifyError, match=r"github: cannot be reached: .*refused"):
            sent(f"http://127.0.0.1:{closed.getsockname()[1]}")
        closed.listen()
        with pytest.raises(NotifyError, match=r"github: cannot be reached: .*timed out"):
            sent(f"http://127.0.0.1:{closed.getsockname()[1]}", timeout_s=0.2)


DRIPS = {
    "body": b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n",
    "refusal": b"HTTP/1.1 500 No\r\ncontent-length: 100000\r\n\r\n",
    "headers": b"HTTP/1.1 200 OK\r\nx: ",
    "status": b"HTTP/1.1 2",
    "interim": b"HTTP/1.1 100 Continue\r\nx: ",
}


@pytest.mark.parametrize("begin", DRIPS.values(), ids=DRIPS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_reply_that_drips_has_an_end(begin: bytes, scheme: str) -> None:
    """Each byte comes in time, and all of them would take for ever: the connection is cut."""
    is_cut = Event()

    def drip(listener: socket.socket) -> None:
        talk, _ = listener.accept()
        with talk, suppress(OSError):
            talk.recv(65_536)
            # A record of TLS that is never whole.
            talk.sendall(begin if scheme == "http" else b"\x16\x03\x03\x40\x00")
            while True:
                talk.sendall(b" ")
                time.sleep(0.02)
        is_cut.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        begun = time.monotonic()
        with pytest.raises(NotifyError, match="the reply takes too long"):
            sent(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", timeout_s=0.3)
        assert time.monotonic() - begun < 2
        assert is_cut.wait(5)


@pytest.mark.parametrize("path", ["s3cret-ä", "s3cret-\x7f", "s3cret- x"])
def test_an_address_that_cannot_be_sent_to_is_not_repeated(path: str) -> None:
    """A webhook's address is a secret itself, and its setting checks it first."""
    with pytest.raises(NotifyError, match="github: expected an address and headers in") as raised:
        sent(f"http://127.0.0.1:9/{path}")

    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("https://api.github.com", True),
        ("http://127.0.0.1:8080/x", True),
        ("http://localhost", True),
        ("http://api.github.com", False),
        ("https://user:password@api.github.com", False),
        ("ftp://127.0.0.1", False),
        ("file:///etc/passwd", False),
        ("/etc/passwd", False),
        ("https://a b", False),
        ("https://hooks.shop.test/ä", False),
        ("https://hooks.shop.test/\x7f", False),
        ("", False),
    ],
)
def test_addresses_are_https_or_of_this_machine(address: str, is_one: bool) -> None:
    """Nobody on the way can read the key."""
    assert is_address(address) is is_one
