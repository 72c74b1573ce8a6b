"""Checks of settings that do not go together."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from urllib.parse import urlsplit

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX
from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.core.settings_parsers import METRICS_VARIABLE

EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound


def check_metrics(url: str, own: Collection[Address]) -> None:
    """Raise SettingsError where metrics would go to an address that this process serves."""
    parts = urlsplit(url)
    host, port = parts.hostname, parts.port
    hosts = {"localhost", "127.0.0.1", "::1", *(address.host for address in own)}
    if host in hosts and port in {address.port for address in own}:
        raise SettingsError(
            f"{PREFIX}SELF_METRICS or {METRICS_VARIABLE}: expected another receiver; got this "
            f"service's own address {host}:{port}, which takes no metrics; name that of an "
            f"OpenTelemetry Collector, or set {PREFIX}SELF_METRICS=off"
        )


def check_reachable(name: str, place: Address, section: object, token: str) -> None:
    """Raise SettingsError where other machines reach an address without that token."""
    if place.is_loopback or _has_token(section, token):
        return
    raise SettingsError(
        f"{PREFIX}{name.upper()}: other machines can reach {place}; set {PREFIX}{token.upper()} to "
        f"a secret that clients send as 'Authorization: Bearer TOKEN' ({PREFIX}TLS_CERT and "
        f"{PREFIX}TLS_KEY keep it secret), or listen on 127.0.0.1"
    )


def check_ingest_is_closed(service: object) -> None:
    """Raise SettingsError where a token is needed to read, and none to send spans."""
    if _has_token(service, "read_token") and not _has_token(service, "ingest_token"):
        raise SettingsError(
            f"{PREFIX}INGEST_TOKEN: expected a token too where {PREFIX}READ_TOKEN is set; got "
            "none; set another secret, which clients send as 'Authorization: Bearer TOKEN'"
        )


def check_tls(certificate: str, key: str) -> None:
    """Raise SettingsError where one of them is set alone."""
    if bool(certificate) != bool(key):
        raise SettingsError(
            f"{PREFIX}TLS_CERT and {PREFIX}TLS_KEY: expected both or neither; got one; "
            "they name a certificate chain and its private key, files in PEM"
        )


def check_is_server(service: object, *names: str) -> None:
    """Raise SettingsError where one of these is set and the database is an embedded one."""
    name = next((name for name in names if getattr(service, name)), "")
    if name and str(getattr(service, "dsn", "")).startswith("chdb:"):
        raise SettingsError(
            f"{PREFIX}{name.upper()}: expected {PREFIX}DSN to name a server of the cluster; got an "
            "embedded database; leave it empty, or set http://user:password@host:8123/database"
        )


def check_distinct(service: object, console: object, *names: str) -> None:
    """Raise SettingsError where two of these settings name one port of one address.

    gRPC lets a port be taken twice, so that only the second server would fail, after the database
    was opened. Port 0 is a new one each time.
    """
    places = [
        (name, getattr(service if hasattr(service, name) else console, name)) for name in names
    ]
    listening = [(name, place) for name, place in places if place and place.port]
    for (first, one), (second, other) in combinations(listening, 2):
        if one.port == other.port and (
            _host(one) == _host(other) or EVERYWHERE & {one.host, other.host}
        ):
            raise SettingsError(
                f"{PREFIX}{first.upper()} and {PREFIX}{second.upper()}: expected a port each; got "
                f"{one} and {other}"
            )


def _host(place: Address) -> str:
    return "127.0.0.1" if place.host == "localhost" else place.host


def _has_token(section: object, name: str) -> bool:
    return bool(getattr(section, name) or getattr(section, f"{name}_file"))


def check_one(section: object, *names: str) -> None:
    """Raise SettingsError where a token and the file of such tokens are both set."""
    for name in names:
        if getattr(section, name) and getattr(section, f"{name}_file"):
            raise SettingsError(
                f"{PREFIX}{name.upper()} and {PREFIX}{name.upper()}_FILE: expected one of them; "
                "got both; write every token that is valid into the file, one a line"
            )
