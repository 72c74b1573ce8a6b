"""Outgoing HTTP: to one address, within one deadline, without a secret in errors or logs."""

from __future__ import annotations

import logging
import socket
import time
from contextlib import suppress
from threading import Event, Thread

import pytest

from otel_rt4chart.core.errors import NotifyError
from rt4chart_collector.notify.channels.http_client import HttpClient
from tests.polling import WITHIN_S
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer

SECRET = "hush-hush-1"  # noqa: S105 - no password


def sent(url: str, timeout_s: float = 10.0) -> object:
    """The reply to a request with a secret."""
    return HttpClient("github", (SECRET,), timeout_s).request(
        "POST", url, {"Authorization": SECRET}, b"{}"
    )


def test_a_redirection_is_not_followed() -> None:
    """The key is for the address that was named: nothing goes to the other one."""
    with ReplyServer(lambda _: Reply({})) as other:
        moved = Reply(None, 307, {"Location": other.url})
        with (
            ReplyServer(lambda _: moved) as server,
            pytest.raises(NotifyError, match="redirects"),
        ):
            sent(server.url)

        assert other.came == []


def test_a_refusal_is_told_with_its_reason_and_without_the_secret() -> None:
    """On one line, bounded, and without what could steer a terminal."""

    def answer(one: Came) -> Reply:
        said = f"bad \x1b[2J {one.headers['authorization']}\n" + "x" * 9_000
        return Reply({"message": said}, 401)

    with ReplyServer(answer) as server, pytest.raises(NotifyError) as raised:
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
    with ReplyServer(lambda _: Reply(body)) as server:
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
        with pytest.raises(NotifyError, match="the reply takes too long"):
            sent(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", timeout_s=0.3)
        assert is_cut.wait(WITHIN_S)


def test_a_proxy_that_drips_has_an_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer to CONNECT is part of the exchange."""
    is_cut = Event()

    def drip(listener: socket.socket) -> None:
        talk, _ = listener.accept()
        with talk, suppress(OSError):
            talk.recv(65_536)
            talk.sendall(b"HTTP/1.1 200 OK\r\nx: ")
            while True:
                talk.sendall(b" ")
                time.sleep(0.02)
        is_cut.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=drip, args=(listener,), daemon=True).start()
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(NotifyError, match="the reply takes too long"):
            sent("https://service.test", timeout_s=0.3)
        assert is_cut.wait(WITHIN_S)


def test_the_proxy_of_the_environment_is_used_but_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And but for the hosts that no_proxy names."""
    with (
        ReplyServer(lambda _: Reply("by proxy")) as proxy,
        ReplyServer(lambda _: Reply("direct")) as server,
    ):
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "other.test")
        assert sent("http://service.test/x") == "by proxy"
        assert sent(server.url) == "direct"
        with pytest.raises(NotifyError, match="cannot be reached"):
            sent("http://other.test/x")

        assert [one.headers["host"] for one in proxy.came] == ["service.test"]


@pytest.mark.parametrize("proxy", ["socks5://u:hush-hush-1@127.0.0.1:9", "ftp://x"])
def test_a_proxy_that_cannot_be_used_is_an_error_without_its_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every failure is the client's own error."""
    monkeypatch.setenv("https_proxy", proxy)

    with pytest.raises(NotifyError, match="expected an http proxy in https_proxy") as raised:
        sent("https://service.test")

    assert SECRET not in str(raised.value)


def test_nothing_is_logged_of_an_address(caplog: pytest.LogCaptureFixture) -> None:
    """A webhook's address is its secret."""
    caplog.set_level(logging.DEBUG)
    with ReplyServer(lambda _: Reply({})) as server:
        sent(f"{server.url}/{SECRET}")

    assert SECRET not in caplog.text


@pytest.mark.parametrize("length", [32 * 2**20, 32 * 2**20 + 1])
def test_a_reply_is_read_up_to_a_limit(length: int) -> None:
    """The largest one is read whole, and a longer one is refused."""
    with ReplyServer(lambda _: Reply("x" * (length - 2))) as server:
        if length == 32 * 2**20:
            assert sent(server.url) == "x" * (length - 2)
        else:
            with pytest.raises(NotifyError, match="github: expected at most 32 MiB, got more"):
                sent(server.url)


def test_a_compressed_reply_is_not_unpacked() -> None:
    """Its size would have no bound; the request asks for none."""
    with ReplyServer(lambda _: Reply({}, headers={"content-encoding": "gzip"})) as server:
        assert sent(server.url) == {}

    assert server.came[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("path", ["s3cret-ä", "s3cret-\x7f", "s3cret- x"])
def test_an_address_that_cannot_be_sent_to_is_not_repeated(path: str) -> None:
    """A webhook's address is a secret itself, and its setting checks it first."""
    with pytest.raises(NotifyError, match="github: expected an address and headers in") as raised:
        sent(f"http://127.0.0.1:9/{path}")

    assert "s3cret" not in str(raised.value)
