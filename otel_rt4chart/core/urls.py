"""Checks of addresses: sources of rates, and the hosts that requests name."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?")


def is_source(text: str) -> bool:
    """True for a path, an https URL, or an http URL on the loopback interface.

    Plain http elsewhere could be answered by anyone on the network. Credentials in the URL are
    rejected: a token is a separate setting.
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
    """True for a URL of any scheme."""
    return "://" in text


def is_secure_url(text: str) -> bool:
    """True for an https URL, or an http URL of the loopback, in ASCII and without a password."""
    return is_address(text) and all("!" <= char <= "~" for char in text) and is_source(text)


def is_loopback(host: str) -> bool:
    """True for `localhost` and loopback IP addresses."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The host of a Host header without port and brackets, in lower case; "" if malformed."""
    found = HOST.fullmatch(header)
    return found[1].strip("[]").lower() if found else ""
