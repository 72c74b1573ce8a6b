"""Parsers of the service's own settings: database, metrics, routing of alerts, Kafka."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX, Environment, without_credentials
from otel_rt4chart.core.settings_parsers import OFF, RefusedSecretError

# What a setting says that names a file of tokens, which may be bound to tenants.
ONE_A_LINE = "a file of such tokens, one a line; tenant=NAME before one binds it to a tenant"
METRICS_VARIABLE = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
KAFKA_PREFIX = "RT4CHART_KAFKA_"
KAFKA_CONFIG = f"{KAFKA_PREFIX}CONFIG"
GROUP = "rt4chart"
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
# Kubernetes sets these in every pod for a service named rt4chart-kafka.
KUBERNETES = re.compile(r"_(SERVICE_(HOST|PORT.*)|PORT(_\d+_.*)?)$")
# The delivery guarantees depend on these, or they are part of the URL.
FIXED = {
    "bootstrap.servers": "it is in RT4CHART_SOURCE",
    "metadata.broker.list": "it is in RT4CHART_SOURCE",
    "group.id": "it is in RT4CHART_SOURCE",
    "enable.auto.commit": "an offset is committed when its answers are decided",
    "enable.auto.offset.store": "an offset is committed when its answers are decided",
    "partition.assignment.strategy": "it is cooperative-sticky",
    "group.protocol": "it is classic",
}


@dataclass(frozen=True, slots=True)
class AlertRoute:
    """The alerts that a target receives: from a severity up, of these rules; none means all."""

    target: str
    severity: str
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KafkaAddress:
    """The brokers as HOST:PORT with commas between them, the topic, and the consumer group."""

    brokers: str
    topic: str
    group: str = GROUP

    def __str__(self) -> str:
        """The URL."""
        return f"kafka://{self.brokers}/{self.topic}?group={self.group}"

    @property
    def dead_letters(self) -> str:
        """The topic for messages that cannot be read."""
        return f"{self.topic}.dlq"


def data_folder(environ: Environment) -> Path:
    """This project's folder in the user's data (XDG Base Directory Specification)."""
    data = environ.get("XDG_DATA_HOME", "")
    # The specification: a relative path is invalid and to be ignored.
    return (Path(data) if data.startswith("/") else Path.home() / ".local/share") / "rt4chart"


def default_dsn(environ: Environment) -> str:
    """The embedded database in the user's data folder."""
    return f"chdb://{data_folder(environ) / 'db'}"


def parse_metrics_url(written: str) -> str:
    """Where to send OTLP metrics over HTTP, with OTLP's path where none is given; or off."""
    if written == OFF:
        return ""
    parts = urlsplit(written)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(written)
    return written if parts.path.strip("/") else f"{parts.scheme}://{parts.netloc}/v1/metrics"


def default_metrics_url(environ: Environment) -> str:
    """OpenTelemetry's own variable, whose URL is taken as it is (OTLP exporter specification)."""
    url = environ.get(METRICS_VARIABLE, "")
    try:
        parse_metrics_url(url or OFF)
    except ValueError as error:
        raise SettingsError(
            f"{METRICS_VARIABLE}: expected a URL for OTLP over HTTP, such as "
            f"http://127.0.0.1:14318/v1/metrics; got {without_credentials(url)!r}; with "
            f"{PREFIX}SELF_METRICS=off the service ignores it"
        ) from error
    return url


def parse_routing(written: str) -> tuple[AlertRoute, ...]:
    """TARGET=SEVERITY[:RULE|RULE…] with commas or spaces between them.

    Whether there are such targets, severities and rules is checked where the targets are built.
    """
    found = []
    for entry in written.replace(",", " ").split():
        target, _, rest = entry.partition("=")
        severity, colon, rules = rest.partition(":")
        named = frozenset(filter(None, rules.split("|")))
        if not target or not severity or (colon and not named):
            raise ValueError(entry)
        found.append(AlertRoute(target, severity, named))
    if not found or len({route.target for route in found}) != len(found):
        raise ValueError(written)
    return tuple(found)


def parse_apprise(written: str) -> str:
    """URLs with white space between them."""
    if any("://" not in url for url in written.split()):
        raise RefusedSecretError("a value without SCHEME://")
    return written


def parse_kafka_url(text: str) -> KafkaAddress:
    """Read `kafka://HOST:PORT,HOST:PORT/TOPIC?group=NAME`; ValueError for anything else."""
    parts = urlsplit(text)
    query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    topic, group = unquote(parts.path.removeprefix("/")), query.pop("group", GROUP)
    brokers = parts.netloc.split(",")
    is_valid = (
        parts.scheme == "kafka"
        and all(map(_is_broker, brokers))
        and TOPIC.fullmatch(topic)
        and topic not in (".", "..")
        and group
        and not query
        and not parts.fragment
    )
    if not is_valid:
        raise ValueError(text)
    return KafkaAddress(",".join(brokers), topic, group)


def kafka_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """The properties of the file that RT4CHART_KAFKA_CONFIG names, then those of the variables.

    RT4CHART_KAFKA_SASL_USERNAME is `sasl.username`, and so on. Raises SettingsError for a file
    that cannot be read, a line without a name, and a property that must not be set. The errors
    quote no value: it may be a secret.
    """
    found = _from_file(Path(environ[KAFKA_CONFIG])) if environ.get(KAFKA_CONFIG) else {}
    for name, value in environ.items():
        is_property = name.startswith(KAFKA_PREFIX) and not KUBERNETES.search(name)
        if is_property and name != KAFKA_CONFIG and value:
            found[name.removeprefix(KAFKA_PREFIX).lower().replace("_", ".")] = value
    for name, reason in FIXED.items():
        if name in found:
            raise SettingsError(
                f"{name}, in {KAFKA_CONFIG} or a variable {KAFKA_PREFIX}*: expected not to be set, "
                f"because {reason}; remove it"
            )
    return found


def _is_broker(text: str) -> bool:
    """HOST:PORT, an IPv6 host in brackets."""
    found = re.fullmatch(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})", text)
    return found is not None and 0 < int(found[1]) < 65_536


def _from_file(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SettingsError(
            f"{KAFKA_CONFIG}: expected a file of librdkafka's properties, one name=value a line; "
            f"cannot read {str(path)!r}: {reason}"
        ) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "!")):
            continue
        name, equals, value = stripped.partition("=")
        if not (equals and name.strip()):
            raise SettingsError(
                f"{KAFKA_CONFIG}: expected name=value in line {number} of {str(path)!r}; got a "
                "line without a name or an equals sign (not shown)"
            )
        found[name.strip()] = value.strip()
    return found
