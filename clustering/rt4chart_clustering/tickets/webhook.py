"""A webhook of one's own: the shape of Alertmanager's receivers, signed as Standard Webhooks says.

The body is what Prometheus' Alertmanager sends (version 4, prometheus.io/docs/alerting/latest/
configuration, "webhook_config"), with all that we know under `rt4chart`. The signature is that of
standardwebhooks.com: base64 of HMAC-SHA256 over id, time and body; a receiver that has seen the id
has seen the message.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from otel_rt4chart.core.errors import TicketError
from otel_rt4chart.core.text import encodable
from rt4chart_clustering.tickets.ticket import Filed, News, Ticket
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.signature import PREFIX, key_of, signed_headers
from rt4chart_collector.sending.text import line, secrets_in

_NEVER = "0001-01-01T00:00:00Z"


class Webhook:
    """Sends to one address; what it answers beside its status does not matter."""

    name = "webhook"

    def __init__(
        self, url: str, secret: str = "", *, clock: Callable[[], float] = time.time
    ) -> None:
        """Without a secret nothing is signed; `whsec_` before one says that it is base64."""
        self._url, self._clock = url, clock
        self._key = key_of(secret)
        secrets = (secret, secret.removeprefix(PREFIX), *secrets_in(url))
        self._sender = Sender(self.name, secrets, error=TicketError)

    def find(self, ticket: Ticket) -> Filed | None:
        """None: the receiver knows by the id."""
        return None

    def create(self, ticket: Ticket) -> Filed:
        """Say that there is an issue."""
        self._send(ticket, "created", ticket.title, ticket.marker)
        return Filed(ticket.marker)

    def tell(self, filed: Filed, ticket: Ticket, news: News) -> bool:
        """Say what is new."""
        self._send(ticket, news.what, news.text, f"{ticket.marker}:{news.key}")
        return True

    def _send(self, ticket: Ticket, event: str, text: str, name: str) -> None:
        body = encoded(_body(ticket, event, text))
        at = str(int(self._clock()))
        self._sender.send("POST", self._url, signed_headers(self._key, name, at, body), body)


def _body(ticket: Ticket, event: str, text: str) -> dict[str, Any]:
    labels = {
        "alertname": "RT4ChartIssue",
        "issue_id": ticket.id,
        "service": encodable(ticket.service),
        "route": encodable(ticket.route),
        "severity": str(ticket.level),
    }
    told = {"summary": line(text, 1_024), "description": line(ticket.summary, 4_000)}
    alert = {
        "status": "firing",
        "labels": labels,
        "annotations": told,
        "startsAt": dict(ticket.facts).get("first seen", _NEVER),
        "endsAt": _NEVER,
        "generatorURL": "",
        "fingerprint": ticket.id,
    }
    shown = [
        {name: encodable(getattr(one, name)) for name in one.__slots__} for one in ticket.examples
    ]
    ours = {
        "event": str(event),
        "id": ticket.id,
        "title": encodable(ticket.title),
        "facts": {name: encodable(value) for name, value in ticket.facts},
        "advice": ticket.advice,
        "examples": shown,
    }
    return {
        "version": "4",
        "groupKey": ticket.marker,
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "rt4chart",
        "groupLabels": {"issue_id": ticket.id},
        "commonLabels": labels,
        "commonAnnotations": told,
        "externalURL": "",
        "alerts": [alert],
        "rt4chart": ours,
    }
