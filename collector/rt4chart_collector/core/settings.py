"""The service's settings: one frozen value, from the command's flags and RT4CHART_* variables."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.core.logs import JSON, LEVELS, TEXT
from rt4chart_collector.core.parsing import (
    OFF,
    Address,
    RefusedSecretError,
    address,
    bearer_token,
    cluster_name,
    metrics_url,
    name_set,
    number,
    one_of,
    secret,
    setting,
    text,
    whole,
)
from rt4chart_collector.core.retention import Retention
from rt4chart_collector.store.engine.dsn import data_folder, default_dsn, hidden

PREFIX = "RT4CHART_"
STORED, ENQUEUED = "stored", "enqueued"
METRICS_VARIABLE = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"


@dataclass(frozen=True, slots=True)
class Settings:
    """Each field's variable is its name in capitals after RT4CHART_, its flag the name with dashes.

    An empty `dsn` is replaced by the embedded database in the user's data folder. `token` is what
    clients must send, anything where it is empty.
    """

    dsn: str = setting(
        "",
        "the database; embedded in the user's data folder unless set",
        "chdb:///absolute/path or http://user:password@host:8123/database",
        text,
    )
    judge: str = setting(
        "local",
        "who verifies the claims: local, openai, single, cascade or onnx:PATH",
        "the name of a judge",
        text,
    )
    strict_routes: frozenset[str] = setting(
        frozenset(),
        "routes whose every claim goes to a cascade's second judge",
        "routes with commas between them",
        name_set,
    )
    sample_rate: float = setting(
        1.0,
        "share of the answers to verify, where the application has not marked them",
        "a number from 0 to 1",
        number(0, 1),
    )
    otlp_http: Address = setting(  # noqa: RUF009 - an immutable tuple
        Address("127.0.0.1", 4318),
        "where to take OTLP over HTTP",
        "HOST:PORT with an IP address, such as 127.0.0.1:4318",
        address,
    )
    otlp_grpc: Address = setting(  # noqa: RUF009 - an immutable tuple
        Address("127.0.0.1", 4317),
        "where to take OTLP over gRPC",
        "HOST:PORT with an IP address, such as 127.0.0.1:4317",
        address,
    )
    token: str = secret("visible ASCII characters without spaces", bearer_token)
    tls_cert: str = setting(
        "", "certificate chain in PEM; both servers speak TLS with it", "a file", text
    )
    tls_key: str = setting("", "private key of that certificate in PEM", "a file", text)
    ack: str = setting(
        STORED,
        "when a request is acknowledged: stored (after the insert) or enqueued (before it)",
        f"{STORED} or {ENQUEUED}",
        one_of(STORED, ENQUEUED),
    )
    trace_quiet_s: float = setting(
        2.0,
        "seconds without a new span after which a trace with its root is verified",
        "seconds from 0 to 3600",
        number(0, 3600),
    )
    trace_orphan_s: float = setting(
        30.0,
        "the same for a trace whose root has not come",
        "seconds from 0 to 3600",
        number(0, 3600),
    )
    trace_max_s: float = setting(
        600.0,
        "seconds after which a trace is verified with what has come",
        "seconds from 1 to 86400",
        number(1, 86_400),
    )
    trace_buffer_mib: int = setting(
        256, "memory for open traces", "MiB from 1 to 65536", whole(1, 65_536)
    )
    ingest_queue_mib: int = setting(
        128, "memory for requests that wait to be stored", "MiB from 1 to 65536", whole(1, 65_536)
    )
    work_queue: int = setting(
        1024, "traces that may wait for a worker", "a number from 1 to 1000000", whole(1, 10**6)
    )
    workers: int = setting(2, "verification threads", "a number from 1 to 64", whole(1, 64))
    ttl_days: int = setting(
        30, "days to keep spans and verdicts", "days from 1 to 36500", whole(1, 36_500)
    )
    spans_ttl_days: int = setting(
        0, "the same for spans alone (0: as ttl-days)", "days from 0 to 36500", whole(0, 36_500)
    )
    verdicts_ttl_days: int = setting(
        0, "the same for verdicts alone (0: as ttl-days)", "days from 0 to 36500", whole(0, 36_500)
    )
    issues_ttl_days: int = setting(
        0,
        "days to keep an issue after it was last seen (0: for ever)",
        "days from 0 to 36500",
        whole(0, 36_500),
    )
    rollup_ttl_days: int = setting(
        400, "days to keep the sums per minute", "days from 1 to 36500", whole(1, 36_500)
    )
    cluster: str = setting(
        "",
        "the cluster of the ClickHouse server, where its tables are to be on all of it",
        "the name of a cluster in system.clusters, or a macro such as {cluster}",
        cluster_name,
    )
    stop_s: float = setting(
        30.0,
        "seconds for the work in hand when the service is told to stop",
        "seconds from 0 to 3600",
        number(0, 3600),
    )
    log_format: str = setting(
        TEXT, "how the log is written: text or json", f"{TEXT} or {JSON}", one_of(TEXT, JSON)
    )
    log_level: str = setting(
        "warning", "the least that is logged", ", ".join(LEVELS), one_of(*LEVELS)
    )
    self_metrics: str = setting(
        "",
        "where to send the service's own metrics, as OTLP over HTTP, or off",
        "a URL such as http://127.0.0.1:14318, or off",
        metrics_url,
    )

    @property
    def retention(self) -> Retention:
        """How long the rows of each kind of table are kept."""
        return Retention(
            others=self.ttl_days,
            spans=self.spans_ttl_days or self.ttl_days,
            verdicts=self.verdicts_ttl_days or self.ttl_days,
            issues=self.issues_ttl_days,
            rollup=self.rollup_ttl_days,
        )


def load(
    flags: Mapping[str, str | None] | None = None, environ: Mapping[str, str] = os.environ
) -> Settings:
    """The settings: a flag wins over its variable, which wins over the default.

    Raises SettingsError with the variable's name, what was expected and what came (a secret
    excepted), also where two settings do not go together.
    """
    values = values_of(fields(Settings), flags or {}, environ)
    values.setdefault("dsn", default_dsn(environ))
    if "self_metrics" not in values:
        values["self_metrics"] = _metrics_elsewhere(environ)
    settings = Settings(**values)
    _check(settings)
    return settings


def variables(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The names of this project's variables that are set."""
    return [name for name in environ if name.startswith(PREFIX)]


def values_of(
    declared_fields: Iterable[Field[Any]],
    flags: Mapping[str, str | None],
    environ: Mapping[str, str],
) -> dict[str, Any]:
    """What was written for these fields, read; SettingsError where it cannot be."""
    values: dict[str, Any] = {}
    for declared in declared_fields:
        variable = PREFIX + declared.name.upper()
        written = flags.get(declared.name) or environ.get(variable) or ""
        if written:
            try:
                values[declared.name] = declared.metadata["parse"](written)
            except ValueError as error:
                is_secret = "secret" in declared.metadata
                lacks = str(error) if isinstance(error, RefusedSecretError) else "another value"
                got = f"{lacks} (hidden)" if is_secret else repr(hidden(written))
                raise SettingsError(
                    f"{variable}: expected {declared.metadata['expected']}; got {got}"
                ) from (None if is_secret else error)
    return values


def _check(settings: Settings) -> None:
    for name in ("otlp_http", "otlp_grpc"):
        place: Address = getattr(settings, name)
        if not (place.is_loopback or settings.token):
            raise SettingsError(
                f"{PREFIX}{name.upper()}: other machines can reach {place}; set "
                f"{PREFIX}TOKEN to a secret that clients send as 'Authorization: Bearer TOKEN' "
                f"({PREFIX}TLS_CERT and {PREFIX}TLS_KEY keep it secret), or listen on 127.0.0.1"
            )
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise SettingsError(
            f"{PREFIX}TLS_CERT and {PREFIX}TLS_KEY: expected both or neither, got one; "
            "they name a certificate chain and its private key, files in PEM"
        )
    # Recovery looks for spans of the last day without a verdict: it must not outlive its span's.
    if settings.retention.verdicts < min(2, settings.retention.spans):
        raise SettingsError(
            f"{PREFIX}VERDICTS_TTL_DAYS: expected at least 2 where spans are kept longer than a "
            f"day, got {settings.retention.verdicts}; answers would be judged twice"
        )
    if settings.cluster and settings.dsn.startswith("chdb:"):
        raise SettingsError(
            f"{PREFIX}CLUSTER: expected {PREFIX}DSN to name a server of the cluster, got an "
            "embedded database; leave it empty, or set http://user:password@host:8123/database"
        )


def _metrics_elsewhere(environ: Mapping[str, str]) -> str:
    """OpenTelemetry's own variable, whose URL is taken as it is (OTLP exporter specification)."""
    url = environ.get(METRICS_VARIABLE, "")
    try:
        metrics_url(url or OFF)
    except ValueError as error:
        raise SettingsError(
            f"{METRICS_VARIABLE}: expected a URL for OTLP over HTTP, such as "
            f"http://127.0.0.1:14318/v1/metrics; got {hidden(url)!r}; with "
            f"{PREFIX}SELF_METRICS=off the service leaves it to others"
        ) from error
    return url


def check_metrics(url: str, own: Collection[Address]) -> None:
    """Raise SettingsError where metrics would go to an address that this command serves."""
    parts = urlsplit(url)
    host, port = parts.hostname, parts.port
    hosts = {"localhost", "127.0.0.1", "::1", *(address.host for address in own)}
    if host in hosts and port in {address.port for address in own}:
        raise SettingsError(
            f"{PREFIX}SELF_METRICS or {METRICS_VARIABLE}: expected another receiver, got this "
            f"service's own address {host}:{port}, which takes no metrics; name that of an "
            f"OpenTelemetry Collector, or set {PREFIX}SELF_METRICS=off"
        )


def demo_environ(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of the demo's service: who sends to the user's own or is told is left out."""
    own = ("TOKEN", "TLS_CERT", "TLS_KEY", "OTLP_GRPC", "ALERTS_", "CONSOLE")
    kept_out = tuple(PREFIX + name for name in own)
    return {name: value for name, value in environ.items() if not name.startswith(kept_out)}


def demo_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the demo keeps its database, apart from the user's own."""
    return data_folder(environ) / "demo"
