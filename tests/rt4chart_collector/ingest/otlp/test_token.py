"""The addresses of clients, by which requests and guesses are limited."""

from __future__ import annotations

import pytest

from rt4chart_collector.ingest.otlp.token import client_of_peer


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
