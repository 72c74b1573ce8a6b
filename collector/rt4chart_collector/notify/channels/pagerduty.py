"""PagerDuty, by the Events API v2 (developer.pagerduty.com/docs/events-api-v2/overview)."""

from __future__ import annotations

from typing import Any

from otel_rt4chart.core.text import one_line
from rt4chart_collector.core.times import iso
from rt4chart_collector.notify.channels.http_client import HttpClient
from rt4chart_collector.notify.channels.message import ALERT_KINDS, Message, MessageKind

_SUMMARY, _NAME, _FACT, _DETAIL = 1_024, 255, 500, 2_000
_ACTIONS = {MessageKind.ACKNOWLEDGED: "acknowledge", MessageKind.RESOLVED: "resolve"}


class PagerDuty:
    """Triggers, acknowledges and resolves one incident for each subject.

    PagerDuty reminds by itself and has no comments. An event under the key of an incident that a
    person resolved would open it again, so reminders and growth are not sent, and an issue that
    regresses gets an incident of its own.
    """

    name = "pagerduty"
    wants = frozenset(MessageKind) - {MessageKind.REMINDED, MessageKind.GROWN}

    def __init__(self, key: str, *, url: str) -> None:
        """`key` is the integration key of an Events API v2 integration."""
        self._key, self._url = key, url
        self._http = HttpClient(self.name, (key,))

    def send(self, message: Message) -> str:
        """Send the event. PagerDuty finds the incident by our key, so it returns none."""
        is_regressed = message.kind is MessageKind.REGRESSED
        event: dict[str, Any] = {
            "routing_key": self._key,
            "event_action": _ACTIONS.get(message.kind, "trigger"),
            "dedup_key": message.id if is_regressed else message.subject,
        }
        if message.kind not in _ACTIONS:
            links = [{"href": message.link, "text": "The alert"}] if message.link else []
            links += [
                {"href": link.url, "text": one_line(link.text, _NAME)} for link in message.links
            ]
            event |= {"client": "rt4chart", "payload": _payload(message), "links": links}
        self._http.request("POST", self._url, {}, event)
        return ""


def _payload(message: Message) -> dict[str, Any]:
    details = {name: one_line(value, _FACT) for name, value in message.facts}
    texts = {"summary": message.description, "advice": message.advice, "see": message.command}
    details |= {name: one_line(text, _DETAIL) for name, text in texts.items() if text}
    payload = {
        "summary": one_line(message.headline, _SUMMARY),
        "source": one_line(message.service, _NAME) or "rt4chart",
        "severity": message.severity,
        "component": one_line(message.route, _NAME),
        "group": "rt4chart",
        "class": message.category,
        "custom_details": details,
    }
    if message.kind in ALERT_KINDS:
        payload["timestamp"] = iso(message.started_ns)
    return payload
