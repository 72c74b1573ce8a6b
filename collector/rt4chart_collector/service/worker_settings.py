"""The settings of `rt4chart work`, beside those that it shares with the service."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.core.parsing import Address, address_or_off, setting, text, yes_or_no
from rt4chart_collector.core.settings import PREFIX, Settings, check_metrics, load, values_of
from rt4chart_collector.ingest.kafka.settings import (
    EXPECTED,
    KafkaAddress,
    kafka_properties,
    read_source,
)

# Of the service's settings, those that mean something to a worker.
SHARED = (
    *("dsn", "cluster", "judge", "strict_routes", "sample_rate", "trace_quiet_s"),
    *("trace_orphan_s", "trace_max_s", "trace_buffer_mib", "work_queue", "workers", "stop_s"),
    *("log_format", "log_level", "self_metrics"),
)
HTTP: Address | None = Address("127.0.0.1", 8320)


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """As `Settings`: a field's variable is its name in capitals after RT4CHART_."""

    source: str = setting("", "the log of spans to work on", EXPECTED, text)
    store_spans: bool = setting(
        False,
        "store the spans, where no Collector does with its ClickHouse exporter",
        "true or false",
        yes_or_no,
    )
    work_http: Address | None = setting(  # noqa: RUF009 - an immutable tuple
        HTTP,
        "where to serve /metrics, /status, /healthz and /readyz; or off",
        "HOST:PORT with an IP address, such as 127.0.0.1:8320, or off",
        address_or_off,
    )


@dataclass(frozen=True, slots=True)
class WorkSettings:
    """All that a worker needs; `kafka` are librdkafka's properties and hold secrets."""

    service: Settings
    stream: StreamSettings
    source: KafkaAddress
    kafka: Mapping[str, str]

    def __repr__(self) -> str:
        """Without the properties."""
        return f"WorkSettings({self.source}, {self.stream}, {self.service})"


def work_fields() -> list[Field[object]]:
    """The settings that have a flag."""
    shared = [one for one in fields(Settings) if one.name in SHARED]
    return [*fields(StreamSettings), *shared]


def load_work(
    flags: Mapping[str, str | None] | None = None, environ: Mapping[str, str] = os.environ
) -> WorkSettings:
    """The settings: a flag wins over its variable; SettingsError as the service's."""
    stream = StreamSettings(**values_of(fields(StreamSettings), flags or {}, environ))
    found = WorkSettings(
        load({name: given for name, given in (flags or {}).items() if name in SHARED}, environ),
        stream,
        read_source(stream.source),
        kafka_properties(environ),
    )
    place = stream.work_http
    if place is not None and not (place.is_loopback or found.service.token):
        raise SettingsError(
            f"{PREFIX}WORK_HTTP: other machines can reach {place}; set {PREFIX}TOKEN to a secret "
            "that they send as 'Authorization: Bearer TOKEN', or listen on 127.0.0.1, or set off"
        )
    check_metrics(found.service.self_metrics, [place] if place else [])
    return found
