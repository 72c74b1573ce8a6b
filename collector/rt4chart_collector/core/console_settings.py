"""The console's settings, beside those of the service."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TypeAlias

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.core.parsing import (
    Address,
    address_or_off,
    bearer_token,
    name_set,
    number,
    secret,
    setting,
    whole,
    yes_or_no,
)
from rt4chart_collector.core.settings import PREFIX, values_of

Network: TypeAlias = IPv4Network | IPv6Network
HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*")
PLACE: Address | None = Address("127.0.0.1", 8321)
LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


def networks(written: str) -> tuple[Network, ...]:
    """IP addresses or networks between commas."""
    return tuple(ip_network(one.strip()) for one in written.split(",") if one.strip())


def host_names(written: str) -> frozenset[str]:
    """Names of hosts between commas, without a port."""
    names = name_set(written.lower())
    if not all(HOST.fullmatch(one) for one in names):
        raise ValueError(written)
    return names


def header_name(written: str) -> str:
    """The name of a header."""
    if not written.replace("-", "").isalnum() or not written.isascii():
        raise ValueError(written)
    return written


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """As `Settings`: a field's variable is its name in capitals after RT4CHART_."""

    console: Address | None = setting(  # noqa: RUF009 - an immutable tuple
        PLACE,
        "where to serve the console; or off",
        "HOST:PORT with an IP address, such as 127.0.0.1:8321, or off",
        address_or_off,
    )
    console_token: str = secret("visible ASCII characters without spaces", bearer_token)
    console_user_header: str = setting(
        "",
        "the header in which a proxy that signs people in names them",
        "the name of a header, such as X-Forwarded-Email",
        header_name,
    )
    console_trusted: tuple[Network, ...] = setting(
        LOOPBACK,
        "from where that header is believed",
        "IP addresses or networks with commas between them, such as 10.0.0.0/24",
        networks,
    )
    console_hosts: frozenset[str] = setting(
        frozenset(),
        "the names under which people open the console",
        "names of hosts with commas between them, such as console.example.org",
        host_names,
    )
    console_readonly: bool = setting(
        False, "show everything, change nothing", "true or false", yes_or_no
    )
    console_clients: int = setting(
        4, "connections of the console to the database", "a number from 1 to 64", whole(1, 64)
    )
    console_page_s: float = setting(
        10.0, "seconds that a page may take", "seconds from 1 to 300", number(1, 300)
    )

    @staticmethod
    def flags() -> list[Field[object]]:
        """The settings that have a flag."""
        return [one for one in fields(ConsoleSettings) if "secret" not in one.metadata]

    @property
    def is_open(self) -> bool:
        """True where nobody has to say who they are."""
        return not (self.console_token or self.console_user_header)


def load_console(
    flags: Mapping[str, str | None] | None = None, environ: Mapping[str, str] = os.environ
) -> ConsoleSettings:
    """The settings: a flag wins over its variable, which wins over the default.

    Raises SettingsError for a value that cannot be used, and for an address that others can reach
    where nobody would have to say who they are.
    """
    settings = ConsoleSettings(**values_of(fields(ConsoleSettings), flags or {}, environ))
    place = settings.console
    if place is not None and not place.is_loopback and settings.is_open:
        raise SettingsError(
            f"{PREFIX}CONSOLE: other machines can reach {place}; set {PREFIX}CONSOLE_TOKEN to a "
            f"secret that people sign in with, or {PREFIX}CONSOLE_USER_HEADER to the header of a "
            "proxy that signs them in, or listen on 127.0.0.1"
        )
    return settings
