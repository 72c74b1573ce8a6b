"""The address of a ticket that somebody made elsewhere."""

from __future__ import annotations

from urllib.parse import urlsplit

from otel_rt4chart.core.errors import InputError

MAX_URL = 2_000


def ticket_url(url: str) -> str:
    """The address; InputError for another one than of http or https, or with a password."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if (
        not host
        or not url.isprintable()
        or parts.scheme not in ("http", "https")
        or len(url) > MAX_URL
    ):
        raise InputError(f"expected the http or https address of a ticket, got {url[:200]!r}")
    if "@" in parts.netloc:
        raise InputError("expected an address without user and password: remove them")
    return url
