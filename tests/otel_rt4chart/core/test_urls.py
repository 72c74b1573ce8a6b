"""Where rates may come from, and where a secret may be sent."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.urls import host_of, is_secure_url, is_source


@pytest.mark.parametrize(
    "source",
    [
        "/etc/rt4chart/rates.json",
        "rates.json",
        "https://rates.example/app?env=prod",
        "https://rates.example:8443/app",
        "http://127.0.0.1:8000/rates",
        "http://localhost/rates",
        "http://[::1]:8000/rates",
    ],
)
def test_files_https_and_the_loopback_are_sources(source: str) -> None:
    """Nobody on the way can change what they say."""
    assert is_source(source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        " ",
        "a\0b",
        "http://rates.example/app",
        "http://localhost.example/app",
        "http://127.0.0.1.example/app",
        "file:///etc/rates.json",
        "ftp://127.0.0.1/rates",
        "https:///app",
        "https://user:secret@rates.example/app",
        "https://rates.example/a b",
        "https://rates.example:port/",
        "http://[::1/",
    ],
)
def test_anything_else_is_none(source: str) -> None:
    """An address that others can answer for could switch the sampling off."""
    assert not is_source(source)


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
    assert is_secure_url(address) is is_one


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("localhost:4318", "localhost"),
        ("[::1]:4318", "::1"),
        ("Shop.Example", "shop.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("a b.test", ""),
        ("shop.test/path", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_header_has_no_port(header: str, host: str) -> None:
    """And no brackets; what is no host is empty."""
    assert host_of(header) == host
