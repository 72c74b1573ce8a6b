"""Prometheus' Alertmanager, by its API v2 (prometheus.io/docs/alerting/latest/alerts_api)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rt4chart_collector.alerts.due import What
from rt4chart_collector.alerts.message import Message
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.times import iso
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.text import line

# Alertmanager takes an alert for over when it was not told of it again until then.
STANDS_NS = 15 * 60 * 10**9
_DESCRIPTION = 4_000


class Alertmanager:
    """Alerts beside those of Prometheus; grouping, repeating and routing are Alertmanager's."""

    wants = frozenset({What.FIRED, What.WORSE, What.RESOLVED})

    def __init__(self, url: str, *, name: str = "alertmanager", token: str = "") -> None:
        """Where it is, with the path that it is served under, if any."""
        self.name = name
        self._url = f"{url.rstrip('/')}/api/v2/alerts"
        self._sender = Sender(name, (token,))
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def send(self, message: Message) -> str:
        """Tell it of one alert."""
        self.keep([message])
        return ""

    def keep(self, messages: Sequence[Message]) -> None:
        """Tell it of alerts that still stand: what it is not told of again ends there."""
        if messages:
            alerts = [_alert(message) for message in messages]
            self._sender.send("POST", self._url, self._headers, encoded(alerts))


def alert_name(alert: Alert) -> str:
    """The rule in the case of Prometheus' alerts."""
    return "Rt4chart" + "".join(word.capitalize() for word in str(alert.rule).split("_"))


def labels_of(alert: Alert) -> dict[str, str]:
    """What tells an alert from others: no numbers that change, and nothing empty."""
    labels = {
        "alertname": alert_name(alert),
        "severity": str(alert.severity),
        "service": line(alert.service, 255),
        "route": line(alert.route, 255),
        "issue_id": f"{alert.issue_id:016x}" if alert.issue_id else "",
    }
    return {name: value for name, value in labels.items() if value}


def annotations_of(message: Message) -> dict[str, str]:
    """What people read."""
    return {
        "summary": line(message.alert.title or message.alert.rule, 1_024),
        "description": "\n".join(line(one, 600) for one in message.body.split("\n"))[:_DESCRIPTION],
    }


def _alert(message: Message) -> dict[str, Any]:
    ends_ns = message.ended_ns if message.is_over else message.now_ns + STANDS_NS
    return {
        "labels": labels_of(message.alert),
        "annotations": annotations_of(message),
        "startsAt": iso(message.fired_ns),
        "endsAt": iso(ends_ns),
        "generatorURL": message.link,
    }
