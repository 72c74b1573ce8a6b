"""PagerDuty alerts, by the Events API v2 (developer.pagerduty.com/docs/events-api-v2/overview)."""

from __future__ import annotations

from otel_rt4chart.core.errors import TicketError
from rt4chart_clustering.tickets.ticket import Filed, News, Ticket, What
from rt4chart_clustering.triage.severity import Level
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.text import line

API = "https://events.pagerduty.com/v2/enqueue"
_SUMMARY = 1_024
_SEVERITY = {
    Level.CRITICAL: "critical",
    Level.HIGH: "error",
    Level.MEDIUM: "warning",
    Level.LOW: "info",
}


class PagerDuty:
    """Alerts of one service. The same key twice is one alert, so nothing has to be looked for.

    The API has no comments, and an event under the key of an incident that somebody resolved would
    open another one: growth is not sent, and a regression is an alert of its own.
    """

    name = "pagerduty"

    def __init__(self, key: str, *, url: str = API) -> None:
        """The integration key of an Events API v2 integration."""
        self._key, self._url = key, url
        self._sender = Sender(self.name, (key,), error=TicketError)

    def find(self, ticket: Ticket) -> Filed | None:
        """None: what was sent is known by its key there."""
        return None

    def create(self, ticket: Ticket) -> Filed:
        """Trigger an alert."""
        return self._trigger(ticket, ticket.marker, ticket.title)

    def tell(self, filed: Filed, ticket: Ticket, news: News) -> bool:
        """Trigger another alert for a regression; growth has no place."""
        if news.what is not What.REGRESSED:
            return False
        self._trigger(ticket, f"{ticket.marker}:{news.key}", news.text)
        return True

    def _trigger(self, ticket: Ticket, key: str, summary: str) -> Filed:
        event = {
            "routing_key": self._key,
            "event_action": "trigger",
            "dedup_key": key,
            "client": "rt4chart",
            "payload": {
                "summary": line(summary, _SUMMARY),
                "source": line(ticket.service, 255) or "rt4chart",
                "severity": _SEVERITY[ticket.level],
                "component": line(ticket.route, 255),
                "group": "rt4chart",
                "class": "unfaithful answers",
                "custom_details": {
                    **{name: line(value, 500) for name, value in ticket.facts},
                    "summary": line(ticket.summary, 2_000),
                    "advice": line(ticket.advice, 2_000),
                    "see": ticket.command,
                },
            },
        }
        self._sender.send("POST", self._url, {}, encoded(event))
        return Filed(key)
