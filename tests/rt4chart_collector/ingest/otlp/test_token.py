"""The addresses of clients, by which requests and guesses are limited."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.ingest.otlp.refusal import RefusedError
from rt4chart_collector.ingest.otlp.token import authenticate_reader, client_of_peer


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.1:4000", "192.0.2.1"),
        ("ipv6:%5B::1%5D:4000", "::1"),
        ("ipv6:[2001:db8::1]:4000", "2001:db8::1"),
        ("unix:/run/otlp.sock", "unix:/run/otlp.sock"),
    ],
)
def test_a_grpc_client_has_the_address_that_it_has_over_http(peer: str, address: str) -> None:
    """Without its port, and without the percent signs in which newer gRPC writes brackets."""
    assert client_of_peer(peer) == address


def request_to(host: str) -> Request:
    """A request from this machine, for this host."""
    headers = [(b"host", host.encode())]
    return Request({"type": "http", "headers": headers, "client": ("127.0.0.1", 40000)})


def refusal_of(host: str) -> str:
    """Why a request without a token is refused where none is set; "" if it is not."""
    try:
        authenticate_reader(TokenGuard(), request_to(host))
    except RefusedError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("host", ["localhost:4318", "127.0.0.1:4318", "[::1]:4318", "worker-3", ""])
def test_local_names_read_without_a_token(host: str) -> None:
    """Where none is set."""
    assert refusal_of(host) == ""


@pytest.mark.parametrize("host", ["shop.test", "shop.test:4318", "127.0.0.1.test", "a b", "x/y"])
def test_a_browser_under_a_foreign_name_is_refused(host: str) -> None:
    """It resolves to the loopback address: the page that opened it is somebody else's."""
    assert refusal_of(host).startswith("expected the host localhost or an address")
