"""Where rates may be read from: a file, or an address that nobody on the way can answer for."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_source(text: str) -> bool:
    """True for a path, an https address, or an http address of this machine's loopback.

    A password has no place in the address: there is a token for that.
    """
    if not is_address(text):
        return text.strip() != "" and "\0" not in text
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or any(char <= " " for char in text):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


def is_address(text: str) -> bool:
    """True for what is written as an address, of whatever scheme."""
    return "://" in text


def is_loopback(host: str) -> bool:
    """True for `localhost` and the loopback's numbers."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
