"""The service's settings: one frozen value, from the command's flags and RT4CHART_* variables."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from otel_rt4chart.errors import SettingsError
from rt4chart_collector.store.connect import hidden
from rt4chart_collector.store.location import data_folder, default_dsn

PREFIX = "RT4CHART_"
STORED, ENQUEUED = "stored", "enqueued"
OFF = "off"
T = TypeVar("T")


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


ACCESS: Address | None = Address("127.0.0.1", 8124)


def _text(text: str) -> str:
    return text


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _number(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return parse


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return parse


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    if host != "localhost":
        ip_address(host)
    return Address(host, _whole(0, 65535)(port))


def _loopback_or_off(text: str) -> Address | None:
    if text == OFF:
        return None
    address = _address(text)
    if not address.is_loopback:
        raise ValueError(text)
    return address


def _token(text: str) -> str:
    token = text.strip()
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise ValueError
    return token


def _one_of(*names: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return parse


def _setting(default: T, help_text: str, expected: str, parse: Callable[[str], T]) -> T:
    return field(
        default=default, metadata={"help": help_text, "expected": expected, "parse": parse}
    )


def _secret(expected: str, parse: Callable[[str], str]) -> str:
    """A setting without a flag, which other users of the machine could read."""
    return field(
        default="",
        repr=False,
        metadata={"help": "", "expected": expected, "parse": parse, "secret": True},
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Each field's variable is its name in capitals after RT4CHART_, its flag the name with dashes.

    An empty `dsn` is replaced by the embedded database in the user's data folder. `token` is what
    clients must send, anything where it is empty.
    """

    dsn: str = _setting(
        "",
        "the database; embedded in the user's data folder unless set",
        "chdb:///absolute/path or http://user:password@host:8123/database",
        _text,
    )
    judge: str = _setting(
        "local",
        "who verifies the claims: local, openai, single, cascade or onnx:PATH",
        "the name of a judge",
        _text,
    )
    strict_routes: frozenset[str] = _setting(
        frozenset(),
        "routes whose every claim goes to a cascade's second judge",
        "routes with commas between them",
        _names,
    )
    sample_rate: float = _setting(
        1.0,
        "share of the answers to verify, where the application has not marked them",
        "a number from 0 to 1",
        _number(0, 1),
    )
    otlp_http: Address = _setting(  # noqa: RUF009 - an immutable tuple
        Address("127.0.0.1", 4318),
        "where to take OTLP over HTTP",
        "HOST:PORT with an IP address, such as 127.0.0.1:4318",
        _address,
    )
    otlp_grpc: Address = _setting(  # noqa: RUF009 - an immutable tuple
        Address("127.0.0.1", 4317),
        "where to take OTLP over gRPC",
        "HOST:PORT with an IP address, such as 127.0.0.1:4317",
        _address,
    )
    access: Address | None = _setting(  # noqa: RUF009 - an immutable tuple
        ACCESS,
        "where other processes reach the embedded database, by ClickHouse's HTTP protocol; or off",
        "a loopback HOST:PORT such as 127.0.0.1:8124, or off",
        _loopback_or_off,
    )
    token: str = _secret("visible ASCII characters without spaces", _token)
    tls_cert: str = _setting(
        "", "certificate chain in PEM; both servers speak TLS with it", "a file", _text
    )
    tls_key: str = _setting("", "private key of that certificate in PEM", "a file", _text)
    ack: str = _setting(
        STORED,
        "when a request is acknowledged: stored (after the insert) or enqueued (before it)",
        f"{STORED} or {ENQUEUED}",
        _one_of(STORED, ENQUEUED),
    )
    trace_quiet_s: float = _setting(
        2.0,
        "seconds without a new span after which a trace with its root is verified",
        "seconds from 0 to 3600",
        _number(0, 3600),
    )
    trace_orphan_s: float = _setting(
        30.0,
        "the same for a trace whose root has not come",
        "seconds from 0 to 3600",
        _number(0, 3600),
    )
    trace_max_s: float = _setting(
        600.0,
        "seconds after which a trace is verified with what has come",
        "seconds from 1 to 86400",
        _number(1, 86_400),
    )
    trace_buffer_mib: int = _setting(
        256, "memory for open traces", "MiB from 1 to 65536", _whole(1, 65_536)
    )
    ingest_queue_mib: int = _setting(
        128, "memory for requests that wait to be stored", "MiB from 1 to 65536", _whole(1, 65_536)
    )
    work_queue: int = _setting(
        1024, "traces that may wait for a worker", "a number from 1 to 1000000", _whole(1, 10**6)
    )
    workers: int = _setting(2, "verification threads", "a number from 1 to 64", _whole(1, 64))
    ttl_days: int = _setting(
        30, "days to keep spans and verdicts", "days from 1 to 36500", _whole(1, 36_500)
    )
    rollup_ttl_days: int = _setting(
        400, "days to keep the sums per minute", "days from 1 to 36500", _whole(1, 36_500)
    )
    stop_s: float = _setting(
        30.0,
        "seconds for the work in hand when the service is told to stop",
        "seconds from 0 to 3600",
        _number(0, 3600),
    )


def load(
    flags: Mapping[str, str | None] | None = None, environ: Mapping[str, str] = os.environ
) -> Settings:
    """The settings: a flag wins over its variable, which wins over the default.

    Raises SettingsError with the variable's name, what was expected and what came (a secret
    excepted), also where two settings do not go together.
    """
    values: dict[str, Any] = {}
    for declared in fields(Settings):
        variable = PREFIX + declared.name.upper()
        given = (flags or {}).get(declared.name), environ.get(variable)
        text = given[0] or given[1] or ""
        if declared.name == "access" and not text and "" in given:
            text = OFF
        if text:
            try:
                values[declared.name] = declared.metadata["parse"](text)
            except ValueError as error:
                is_secret = "secret" in declared.metadata
                got = "others (not shown)" if is_secret else repr(hidden(text))
                raise SettingsError(
                    f"{variable}: expected {declared.metadata['expected']}; got {got}"
                ) from (None if is_secret else error)
    values.setdefault("dsn", default_dsn(environ))
    settings = Settings(**values)
    _check(settings)
    return settings


def _check(settings: Settings) -> None:
    for name in ("otlp_http", "otlp_grpc"):
        address: Address = getattr(settings, name)
        if not (address.is_loopback or settings.token):
            raise SettingsError(
                f"{PREFIX}{name.upper()}: other machines can reach {address}; set "
                f"{PREFIX}TOKEN to a secret that clients send as 'Authorization: Bearer TOKEN' "
                f"({PREFIX}TLS_CERT and {PREFIX}TLS_KEY keep it secret), or listen on 127.0.0.1"
            )
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise SettingsError(
            f"{PREFIX}TLS_CERT and {PREFIX}TLS_KEY: expected both or neither, got one; "
            "they name a certificate chain and its private key, files in PEM"
        )


def demo_environ(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of the demo's service: who may send to the user's own is not taken over."""
    kept_out = {PREFIX + name for name in ("TOKEN", "TLS_CERT", "TLS_KEY", "OTLP_GRPC")}
    return {name: value for name, value in environ.items() if name not in kept_out}


def demo_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the demo keeps its database, apart from the user's own."""
    return data_folder(environ) / "demo"
