"""Which log to read, from its URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from otel_rt4chart.errors import SettingsError

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
