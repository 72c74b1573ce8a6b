"""The parsers of settings: what each expects, how it reads a text, and which values are valid."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

from otel_rt4chart.core.urls import is_loopback, is_secure_url

OFF = "off"
# Headers that clients fill themselves: none of them names a user whom a proxy has signed in.
CLIENT_HEADERS = frozenset(
    {
        *("host", "cookie", "authorization", "proxy-authorization", "origin", "referer"),
        *("user-agent", "accept", "accept-encoding", "accept-language", "connection"),
        *("content-type", "content-length", "transfer-encoding", "cache-control"),
    }
)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Network: TypeAlias = IPv4Network | IPv6Network


class RefusedSecretError(ValueError):
    """An invalid secret; the message says what is wrong, and quotes nothing of it."""


class InvalidPartError(ValueError):
    """One part of a longer value is invalid: which, what was expected, and what to change."""

    def __init__(self, part: str, expected: str, advice: str) -> None:
        """`expected` completes "expected …"; `advice` is a sentence without its full stop."""
        super().__init__(f"in {part!r} expected {expected}; {advice}")


@dataclass(frozen=True, slots=True)
class Parser(Generic[T_co]):
    """Reads one kind of value; `expected` completes the sentence "expected …" of an error."""

    expected: str
    parse: Callable[[str], T_co]
    is_valid: Callable[[Any], bool] = lambda value: True

    def __call__(self, written: str) -> T_co:
        """The value of the text; ValueError if there is none, or it is invalid."""
        value = self.parse(written)
        if not self.is_valid(value):
            raise ValueError(written)
        return value


class Address(NamedTuple):
    """An address to listen on; with port 0 the system chooses the port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        """HOST:PORT, an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def number(low: float, high: float, unit: str = "a number") -> Parser[float]:
    """A number in these bounds; the error names them with their unit."""
    return Parser(f"{unit} from {low} to {high}", float, _between(low, high))


def integer(low: int, high: int, unit: str = "a number") -> Parser[int]:
    """An integer in these bounds; the error names them with their unit."""
    return Parser(f"{unit} from {low} to {high}", int, _between(low, high))


def one_of(*choices: str) -> Parser[str]:
    """One of these words."""
    expected = " or ".join(choices) if len(choices) == 2 else ", ".join(choices)
    return Parser(expected, str, lambda value: value in choices)


def matching(pattern: str, expected: str) -> Parser[str]:
    """A text that the whole regular expression matches."""
    fits = re.compile(pattern, re.ASCII).fullmatch
    return Parser(expected, str, lambda value: fits(value) is not None)


def or_off(parser: Parser[T], off: T) -> Parser[T]:
    """The same parser, which also accepts `off` for this value."""
    return Parser(f"{parser.expected}, or off", lambda text: off if text == OFF else parser(text))


def split_names(written: str) -> tuple[str, ...]:
    """The texts between commas, in order, without duplicates; ValueError for commas alone."""
    found = tuple(dict.fromkeys(name.strip() for name in written.split(",") if name.strip()))
    if not found:
        raise ValueError(written)
    return found


def _between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    )


def _boolean(written: str) -> bool:
    word = written.lower()
    if word not in ("1", "0", "true", "false", "yes", "no", "on", "off"):
        raise ValueError(written)
    return word in ("1", "true", "yes", "on")


def _address(written: str) -> Address:
    host, _, port = written.rpartition(":")
    host = host.strip("[]")
    if host != "localhost":
        ip_address(host)
    return Address(host, integer(0, 65535)(port))


def _networks(written: str) -> tuple[Network, ...]:
    return tuple(ip_network(name) for name in split_names(written))


def _host_names(written: str) -> frozenset[str]:
    found = split_names(written.lower())
    if not all(re.fullmatch(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*", name) for name in found):
        raise ValueError(written)
    return frozenset(found)


def _secure_url(written: str) -> str:
    if not is_secure_url(written):
        is_tls = written.startswith("https://")
        reason = "with a password or a blank" if is_tls else "without https://"
        raise RefusedSecretError(f"a value {reason}")
    return written


def _http_url(written: str) -> str:
    parts = urlsplit(written)
    is_url = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    if not is_url or parts.username is not None or not re.fullmatch(r"[!-~]+", written):
        raise ValueError(written)
    return written


def _signing_secret(written: str) -> str:
    key = written.removeprefix("whsec_")
    if key == "" or (key != written and not base64.b64decode(key, validate=True)):
        raise ValueError
    return written


text = Parser("a text", str)
boolean = Parser("true or false", _boolean)
share = number(0, 1)
count = Parser("an integer of 1 or more", int, lambda value: 1 <= value < 1e12)
names = Parser("names with commas between them", split_names)
name_set = Parser("names with commas between them", lambda text: frozenset(split_names(text)))
address = Parser("HOST:PORT with an IP address or localhost", _address)
networks = Parser(
    "IP addresses or networks with commas between them, such as 10.0.0.0/24", _networks
)
host_names = Parser(
    "names of hosts with commas between them, such as console.example.org", _host_names
)
header_name = Parser(
    "a header that only the proxy sets, such as X-Email",
    str,
    lambda value: (
        re.fullmatch(r"[A-Za-z0-9-]*[A-Za-z0-9][A-Za-z0-9-]*", value, re.ASCII) is not None
        and value.lower() not in CLIENT_HEADERS
    ),
)
secure_url = Parser(
    "an https address, or http at the loopback, in ASCII, without a password", _secure_url
)
http_url = Parser("an http or https address", _http_url)
http_urls = Parser(
    "http or https addresses with commas between them, such as http://alertmanager:9093",
    lambda written: tuple(map(_http_url, split_names(written))),
)
bearer_token = matching(r"[!-~]+", "visible ASCII characters without spaces")
signing_secret = Parser("a text, or whsec_ and base64", _signing_secret)
