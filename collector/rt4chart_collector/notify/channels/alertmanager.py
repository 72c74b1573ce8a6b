"""Prometheus' Alertmanager, by its API v2 (prometheus.io/docs/alerting/latest/alerts_api)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otel_rt4chart.core.text import one_line
from rt4chart_collector.core.times import iso
from rt4chart_collector.notify.channels.http_client import HttpClient
from rt4chart_collector.notify.channels.message import Message, MessageKind

# Alertmanager resolves an alert by itself when it does not hear of it again until then.
EXPIRES_NS = 15 * 60 * 10**9
_SUMMARY, _DESCRIPTION = 1_024, 4_000


class Alertmanager:
    """Posts alerts beside those of Prometheus; Alertmanager groups, repeats and routes them."""

    wants = frozenset({MessageKind.FIRED, MessageKind.WORSE, MessageKind.RESOLVED})

    def __init__(self, url: str, *, name: str = "alertmanager", token: str = "") -> None:
        """`url` includes the path that Alertmanager is served under, if any."""
        self.name = name
        self._url = f"{url.rstrip('/')}/api/v2/alerts"
        self._http = HttpClient(name, (token,))
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def send(self, message: Message) -> str:
        """Post one alert."""
        self.refresh([message])
        return ""

    def refresh(self, messages: Sequence[Message]) -> None:
        """Post all alerts that are open, so that Alertmanager does not resolve them."""
        if messages:
            self._http.request("POST", self._url, self._headers, list(map(_alert, messages)))


def annotations_of(message: Message) -> dict[str, str]:
    """The texts for people."""
    text = message.description or message.body
    lines = [one_line(line, _DESCRIPTION) for line in text.split("\n")]
    summary = one_line(message.title, _SUMMARY)
    return {"summary": summary, "description": "\n".join(lines)[:_DESCRIPTION]}


def _alert(message: Message) -> dict[str, Any]:
    ends_ns = message.ended_ns if message.is_over else message.now_ns + EXPIRES_NS
    return {
        "labels": dict(message.labels),
        "annotations": annotations_of(message),
        "startsAt": iso(message.started_ns),
        "endsAt": iso(ends_ns),
        "generatorURL": message.link,
    }
