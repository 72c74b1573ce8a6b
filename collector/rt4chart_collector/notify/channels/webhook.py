"""A webhook of your own: what Alertmanager sends to its receivers, signed.

The body is that of Alertmanager's `webhook_config` (version 4, prometheus.io/docs/alerting/latest/
configuration), with our own fields under `rt4chart`. The signature is that of
standardwebhooks.com: HMAC-SHA256 over id, time and body. A message that is sent again has the same
id.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Any

from otel_rt4chart.core.text import encodable
from rt4chart_collector.core.times import iso
from rt4chart_collector.notify.channels.alertmanager import annotations_of
from rt4chart_collector.notify.channels.http_client import HttpClient, encode_json, secrets_in_url
from rt4chart_collector.notify.channels.message import ALERT_KINDS, Message, MessageKind

_BASE64_PREFIX = "whsec_"
_NEVER = "0001-01-01T00:00:00Z"


class Webhook:
    """Posts to one address. Of the reply only the status counts."""

    name = "webhook"
    wants = frozenset(MessageKind)

    def __init__(
        self, url: str, secret: str = "", *, clock: Callable[[], float] = time.time
    ) -> None:
        """Without a secret nothing is signed; a secret that begins with `whsec_` is base64."""
        self._url, self._clock = url, clock
        self._key = signing_key(secret)
        secrets = (secret, secret.removeprefix(_BASE64_PREFIX), *secrets_in_url(url))
        self._http = HttpClient(self.name, secrets)

    def send(self, message: Message) -> str:
        """Post it under its id."""
        body, at = encode_json(_body(message)), str(int(self._clock()))
        headers = {"webhook-id": message.id, "webhook-timestamp": at}
        if self._key:
            signed = f"{message.id}.{at}.".encode() + body
            digest = hmac.new(self._key, signed, hashlib.sha256).digest()
            headers["webhook-signature"] = "v1," + base64.b64encode(digest).decode()
        self._http.request("POST", self._url, headers, body)
        return ""


def signing_key(secret: str) -> bytes:
    """The key's bytes; ValueError where `whsec_` is not followed by base64."""
    if not secret.startswith(_BASE64_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_BASE64_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("expected base64 after whsec_") from error


def _body(message: Message) -> Mapping[str, Any]:
    labels, annotations = dict(message.labels), annotations_of(message)
    status = "resolved" if message.is_over else "firing"
    group = "alertname" if message.kind in ALERT_KINDS else "issue_id"
    alert = {
        "status": status,
        "labels": labels,
        "annotations": annotations,
        "startsAt": iso(message.started_ns) if message.started_ns else _NEVER,
        "endsAt": iso(message.ended_ns) if message.is_over else _NEVER,
        "generatorURL": message.link,
        "fingerprint": message.subject_id,
    }
    ours = {
        "event": str(message.kind),
        "id": message.subject_id,
        "title": encodable(message.headline),
        "facts": {name: encodable(value) for name, value in message.facts},
        **message.extra,
    }
    return {
        "version": "4",
        "groupKey": message.subject,
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "rt4chart",
        "groupLabels": {group: labels[group]},
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": message.link,
        "alerts": [alert],
        "rt4chart": ours,
    }
