"""The addresses of tickets."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.ticket_url import ticket_url


@pytest.mark.parametrize("url", ["https://t.example.com/browse/OPS-1?x=1#y", "http://[::1]/1"])
def test_a_web_address_is_one(url: str) -> None:
    """It is kept as it is."""
    assert ticket_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        *("", "OPS-1", "javascript:alert(1)", "//t.example.com/1", "https://", "http://[::1"),
        *("https://ann:secret@t.example.com/1", "https://t.example.com/" + "x" * 2_000),
        "https://t.example.com/\u202e1",
    ],
)
def test_anything_else_is_refused(url: str) -> None:
    """Also one with a password, which would be shown to everybody."""
    with pytest.raises(InputError, match="expected"):
        ticket_url(url)
