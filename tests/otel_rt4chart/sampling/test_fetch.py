"""Files and addresses are read whole, within bounds, or not at all."""

from __future__ import annotations

import http.client
import os
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest
from opentelemetry.instrumentation.utils import is_instrumentation_enabled

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.sampling.rates import MAX_BYTES, fetch
from tests.otel_rt4chart.sampling.rates_server import serving


def test_a_file_is_read(tmp_path: Path) -> None:
    """Up to its bound."""
    path = tmp_path / "rates.json"
    path.write_bytes(b"x" * MAX_BYTES)
    assert len(fetch(str(path))) == MAX_BYTES

    path.write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(InputError, match="at most 64 KiB"):
        fetch(str(path))


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    """As is a directory; a file that is missing is an OSError."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    for path in (pipe, tmp_path):
        with pytest.raises(InputError, match="expected a file"):
            fetch(str(path))
    with pytest.raises(FileNotFoundError):
        fetch(str(tmp_path / "none"))


def test_an_address_is_asked_with_the_token() -> None:
    """And without a header where there is none."""
    with serving() as server:
        server.body = b'{"rate": 1}'

        assert fetch(server.address, "secret") == fetch(server.address) == server.body
        assert [one.get("Authorization") for one in server.seen] == ["Bearer secret", None]


def test_a_redirection_is_not_followed() -> None:
    """The token would go with it."""
    with serving() as server, serving() as other:
        server.status, server.headers = 302, {"Location": other.address}

        with pytest.raises(HTTPError, match="302") as caught:
            fetch(server.address, "secret")
        caught.value.close()

        assert other.seen == []


def test_too_long_an_answer_is_left_off() -> None:
    """The connection is closed instead."""
    with serving() as server:
        server.body = b" " * (MAX_BYTES + 1)

        with pytest.raises(InputError, match="at most 64 KiB"):
            fetch(server.address)


def test_an_answer_that_comes_too_slowly_is_left_off() -> None:
    """Each wait is short, and all of them together are bounded too."""
    with serving() as server, pytest.raises(InputError, match="got a part of it"):
        fetch(server.address, deadline_s=-1.0)


def test_a_broken_answer_is_an_oserror() -> None:
    """As is a port where nobody listens."""
    with serving() as server:
        server.status, server.body = 500, b"secret"
        with pytest.raises(HTTPError) as caught:
            fetch(server.address)
        caught.value.close()
        gone = server.address

    with pytest.raises(OSError, match="refused"):
        fetch(gone)


def test_the_proxy_of_the_environment_is_not_asked_for_the_loopback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It could not know this machine's loopback."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving() as server:
        assert fetch(server.address) == b"{}"


def test_asking_makes_no_span() -> None:
    """An instrumentation of urllib sees that it is told off, and the thread is as it was."""
    allowed = []

    class Watched(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
            allowed.append(is_instrumentation_enabled())
            return super().http_open(request)

    real = urllib.request.build_opener
    with serving() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(urllib.request, "build_opener", lambda *given: real(Watched, *given))
        fetch(server.address)

    assert allowed == [False]
    assert is_instrumentation_enabled()
