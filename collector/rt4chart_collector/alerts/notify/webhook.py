"""A webhook of one's own: what Alertmanager sends to its receivers, signed.

The body is that of Alertmanager's `webhook_config` (version 4, prometheus.io/docs/alerting/latest/
configuration), with what else is known under `rt4chart`. The signature is that of
standardwebhooks.com; a receiver that has seen an id has seen the message.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from otel_rt4chart.core.text import encodable
from rt4chart_collector.alerts.due import ALL
from rt4chart_collector.alerts.message import Message
from rt4chart_collector.alerts.notify.alertmanager import annotations_of, labels_of
from rt4chart_collector.core.alerts.times import iso
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.signature import PREFIX, key_of, signed_headers
from rt4chart_collector.sending.text import secrets_in

_NEVER = "0001-01-01T00:00:00Z"


class Webhook:
    """Sends to one address; what it answers beside its status does not matter."""

    name = "webhook"
    wants = ALL

    def __init__(
        self, url: str, secret: str = "", *, clock: Callable[[], float] = time.time
    ) -> None:
        """Without a secret nothing is signed; `whsec_` before one says that it is base64."""
        self._url, self._clock = url, clock
        self._key = key_of(secret)
        secrets = (secret, secret.removeprefix(PREFIX), *secrets_in(url))
        self._sender = Sender(self.name, secrets)

    def send(self, message: Message) -> str:
        """Send it under its id."""
        body, at = encoded(_body(message)), str(int(self._clock()))
        self._sender.send("POST", self._url, signed_headers(self._key, message.id, at, body), body)
        return ""


def _body(message: Message) -> Mapping[str, Any]:
    alert, labels, told = message.alert, labels_of(message.alert), annotations_of(message)
    status = "resolved" if message.is_over else "firing"
    one = {
        "status": status,
        "labels": labels,
        "annotations": told,
        "startsAt": iso(message.fired_ns),
        "endsAt": iso(message.ended_ns) if message.is_over else _NEVER,
        "generatorURL": message.link,
        "fingerprint": alert.id,
    }
    ours = {
        "event": str(message.what),
        "id": alert.id,
        "rule": str(alert.rule),
        "title": encodable(message.headline),
        "facts": dict(message.lines),
        "links": [{"text": one.text, "url": one.url} for one in message.links],
    }
    return {
        "version": "4",
        "groupKey": message.dedup,
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "rt4chart",
        "groupLabels": {"alertname": labels["alertname"]},
        "commonLabels": labels,
        "commonAnnotations": told,
        "externalURL": message.link,
        "alerts": [one],
        "rt4chart": ours,
    }
