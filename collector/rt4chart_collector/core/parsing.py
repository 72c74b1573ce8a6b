"""How a setting's text becomes its value, and how a field of the settings tells its variable."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from ipaddress import ip_address
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

OFF = "off"
T = TypeVar("T")


class RefusedSecretError(ValueError):
    """A secret that cannot be meant; its text says what it lacks, and nothing of it."""


class Address(NamedTuple):
    """Where to listen; port 0 lets the system choose."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True where only this machine can reach it."""
        return self.host == "localhost" or ip_address(self.host).is_loopback

    def __str__(self) -> str:
        """HOST:PORT, an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def text(given: str) -> str:
    """The text itself."""
    return given


def name_set(text: str) -> frozenset[str]:
    """What stands between commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def number(low: float, high: float) -> Callable[[str], float]:
    """Take a number in these bounds; ValueError for others, as all of these."""

    def parse(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return parse


def whole(low: int, high: int) -> Callable[[str], int]:
    """Take a whole number in these bounds."""

    def parse(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return parse


def address(text: str) -> Address:
    """HOST:PORT, with an IP address or `localhost`."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    if host != "localhost":
        ip_address(host)
    return Address(host, whole(0, 65535)(port))


def yes_or_no(given: str) -> bool:
    """A switch; ValueError for other words."""
    word = given.strip().lower()
    if word not in ("1", "0", "true", "false", "yes", "no", "on", "off"):
        raise ValueError(given)
    return word in ("1", "true", "yes", "on")


def address_or_off(given: str) -> Address | None:
    """An address, or None for `off`."""
    return None if given == OFF else address(given)


def cluster_name(text: str) -> str:
    """A name that a statement may quote, of a cluster or of a macro in braces."""
    if not re.fullmatch(r"[A-Za-z_][\w.-]*|\{\w+\}", text):
        raise ValueError(text)
    return text


def metrics_url(text: str) -> str:
    """Where OTLP metrics are taken over HTTP, with OTLP's path where none is given; or off."""
    if text == OFF:
        return ""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(text)
    return text if parts.path.strip("/") else f"{parts.scheme}://{parts.netloc}/v1/metrics"


def bearer_token(text: str) -> str:
    """A secret that a header can carry; the error does not quote it."""
    token = text.strip()
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise ValueError
    return token


def one_of(*names: str) -> Callable[[str], str]:
    """Take one of these names."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return parse


def setting(default: T, help_text: str, expected: str, parse: Callable[[str], T]) -> T:
    """A field with its flag's help, what is expected of its text, and how that is read."""
    return field(
        default=default, metadata={"help": help_text, "expected": expected, "parse": parse}
    )


def secret(expected: str, parse: Callable[[str], str]) -> str:
    """A setting without a flag, which other users of the machine could read."""
    return field(
        default="",
        repr=False,
        metadata={"help": "", "expected": expected, "parse": parse, "secret": True},
    )
