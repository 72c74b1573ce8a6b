"""PagerDuty, by the Events API v2 (developer.pagerduty.com/docs/events-api-v2/overview)."""

from __future__ import annotations

from typing import Any

from rt4chart_collector.alerts.due import What
from rt4chart_collector.alerts.message import Message
from rt4chart_collector.core.alerts.times import iso
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.text import line

API = "https://events.pagerduty.com/v2/enqueue"
_SUMMARY, _NAME = 1_024, 255
_ACTIONS = {What.ACKNOWLEDGED: "acknowledge", What.RESOLVED: "resolve"}


class PagerDuty:
    """An alert of one service, which is triggered, acknowledged and resolved under one key.

    It reminds by itself, so it is not sent reminders: one under the key of an incident that
    somebody resolved there would open another.
    """

    name = "pagerduty"
    wants = frozenset({What.FIRED, What.WORSE, What.ACKNOWLEDGED, What.RESOLVED})

    def __init__(self, key: str, *, url: str = API) -> None:
        """The integration key of an Events API v2 integration."""
        self._key, self._url = key, url
        self._sender = Sender(self.name, (key,))

    def send(self, message: Message) -> str:
        """Send the event; the key is ours."""
        event: dict[str, Any] = {
            "routing_key": self._key,
            "event_action": _ACTIONS.get(message.what, "trigger"),
            "dedup_key": message.dedup,
        }
        if message.what not in _ACTIONS:
            links = [{"href": message.link, "text": "The alert"}] if message.link else []
            links += [{"href": one.url, "text": line(one.text, _NAME)} for one in message.links]
            event |= {"client": "rt4chart", "payload": _payload(message), "links": links}
        self._sender.send("POST", self._url, {}, encoded(event))
        return ""


def _payload(message: Message) -> dict[str, Any]:
    alert = message.alert
    return {
        "summary": line(message.headline, _SUMMARY),
        "source": line(alert.service, _NAME) or "rt4chart",
        "severity": str(alert.severity),
        "timestamp": iso(message.fired_ns),
        "component": line(alert.route, _NAME),
        "group": "rt4chart",
        "class": str(alert.rule),
        "custom_details": dict(message.lines),
    }
