"""Which Kafka topic to read, and librdkafka's properties, from a URL, a file and variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from otel_rt4chart.core.errors import SettingsError

EXPECTED = "kafka://broker1:9092,broker2:9092/topic?group=name"
NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
GROUP = "rt4chart"


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


def kafka_address(text: str) -> KafkaAddress:
    """Read the URL; ValueError where it is none, as the other settings' readers."""
    parts = urlsplit(text)
    query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    topic, group = unquote(parts.path.removeprefix("/")), query.pop("group", GROUP)
    brokers = parts.netloc.split(",")
    is_fit = (
        parts.scheme == "kafka"
        and all(_is_broker(broker) for broker in brokers)
        and NAME.fullmatch(topic)
        and topic not in (".", "..")
        and group
        and not query
        and not parts.fragment
    )
    if not is_fit:
        raise ValueError(text)
    return KafkaAddress(",".join(brokers), topic, group)


def read_source(text: str) -> KafkaAddress:
    """The same; SettingsError, which shows nothing before an @, where it is none."""
    if not text:
        raise SettingsError(
            f"RT4CHART_SOURCE: expected {EXPECTED}; got nothing: give --source, the topic that "
            "the OpenTelemetry Collector's Kafka exporter writes"
        )
    try:
        return kafka_address(text)
    except ValueError:
        shown = "…@" + text.rpartition("@")[2] if "@" in text else text
        raise SettingsError(
            f"RT4CHART_SOURCE: expected {EXPECTED}, user and password in "
            f"RT4CHART_KAFKA_SASL_USERNAME and _PASSWORD; got {shown!r}"
        ) from None


def _is_broker(text: str) -> bool:
    """HOST:PORT, an IPv6 host in brackets."""
    found = re.fullmatch(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})", text)
    return found is not None and 0 < int(found[1]) < 65_536


PREFIX = "RT4CHART_KAFKA_"
CONFIG = f"{PREFIX}CONFIG"
# Kubernetes sets these in every pod for a service named rt4chart-kafka.
SERVICE = re.compile(r"_(SERVICE_(HOST|PORT.*)|PORT(_\d+_.*)?)$")
# The guarantees rest on these, and the URL says the rest.
FIXED = {
    "bootstrap.servers": "it is in RT4CHART_SOURCE",
    "metadata.broker.list": "it is in RT4CHART_SOURCE",
    "group.id": "it is in RT4CHART_SOURCE",
    "enable.auto.commit": "an offset is committed when its answers are decided",
    "enable.auto.offset.store": "an offset is committed when its answers are decided",
    "partition.assignment.strategy": "it is cooperative-sticky",
    "group.protocol": "it is classic",
}


def kafka_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """The properties of the file that RT4CHART_KAFKA_CONFIG names, then those of the variables.

    RT4CHART_KAFKA_SASL_USERNAME is `sasl.username`, and so on. Raises SettingsError for a file
    that cannot be read, a line that is none, and a property that is not to be set; values are
    never shown, for they may be secrets.
    """
    found = _from_file(Path(environ[CONFIG])) if environ.get(CONFIG) else {}
    for name, value in environ.items():
        if name.startswith(PREFIX) and name != CONFIG and value and not SERVICE.search(name):
            found[name.removeprefix(PREFIX).lower().replace("_", ".")] = value
    for name, reason in FIXED.items():
        if name in found:
            raise SettingsError(
                f"{name}, in {CONFIG} or a variable {PREFIX}*: expected not to be set, for "
                f"{reason}; take it out"
            )
    return found


def _from_file(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SettingsError(
            f"{CONFIG}: expected a file of librdkafka's properties, one name=value a line; "
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
                f"{CONFIG}: expected name=value in line {number} of {str(path)!r}, got a line "
                "without a name or an equals sign (not shown)"
            )
        found[name.strip()] = value.strip()
    return found
