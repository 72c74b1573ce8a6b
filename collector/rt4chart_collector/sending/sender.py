"""One request to a service of others: by TLS or to this machine, to one address, not for long."""

from __future__ import annotations

import http.client
import json
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.core.errors import NotifyError, RT4ChartError
from otel_rt4chart.core.text import printable
from otel_rt4chart.core.urls import is_source
from rt4chart_collector.sending.exchange import exchanged

TIMEOUT_S = 10.0
# A hundred of the longest issues are less.
MOST_BYTES = 32 * 2**20
REFUSAL_BYTES = 4_096
_SHOWN = 200
_SHORTEST_SECRET = 5
_AGENT = "otel-rt4chart"


def is_address(text: str) -> bool:
    """True for an https address, or an http one of this machine, in ASCII, without a password."""
    return "://" in text and all("!" <= char <= "~" for char in text) and is_source(text)


@dataclass(frozen=True, slots=True)
class _SenderReply:
    status: int
    reason: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends to one system; `secrets` are blotted out of whatever it says about a failure.

    No redirection is followed: the key is for the address that was named. `error` is raised.
    """

    system: str
    secrets: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S
    error: type[RT4ChartError] = NotifyError

    def send(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Any:  # noqa: ANN401 - JSON of a stranger
        """The reply's JSON, None where it is none; `error` where there is none that is good."""
        sent = {"User-Agent": _AGENT, "Accept": "application/json", **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        try:
            request = urllib.request.Request(  # noqa: S310 - the settings check the address
                address, data=body, headers=sent, method=method
            )
            reply = exchanged(request, _read, timeout_s=self.timeout_s)
        except (http.client.InvalidURL, ValueError):  # they quote the address, which may be secret
            raise self.failure("expected an address and headers in printable ASCII") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise self.failure(f"cannot be reached: {reason}") from None
        if not 200 <= reply.status < 300:
            raise self._refused(reply)
        if len(reply.body) > MOST_BYTES:
            raise self.failure(f"expected at most {MOST_BYTES // 2**20} MiB, got more")
        return _json(reply.body)

    def failure(self, words: str) -> RT4ChartError:
        """An error with the system's name, on one line, without a secret."""
        clean = " ".join(printable(words).split())
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_SECRET:
                clean = clean.replace(secret, "***")
        return self.error(f"{self.system}: {clean[:_SHOWN]}")

    def _refused(self, reply: _SenderReply) -> RT4ChartError:
        if 300 <= reply.status < 400:
            return self.failure(f"{reply.status}: it redirects, and nothing is sent elsewhere")
        said = reply.body.decode("utf-8", "replace")
        return self.failure(f"{reply.status}: {said or reply.reason}")


def encoded(value: object) -> bytes:
    """JSON as it is sent."""
    return json.dumps(value, ensure_ascii=False).encode()


def _read(response: http.client.HTTPResponse) -> _SenderReply:
    """As much as is of use; what a refusal says may break off."""
    is_good = 200 <= response.status < 300
    try:
        body = response.read(MOST_BYTES + 1 if is_good else REFUSAL_BYTES)
    except (OSError, http.client.HTTPException):
        if is_good:
            raise
        body = b""
    return _SenderReply(response.status, str(response.reason), body)


def _json(body: bytes) -> Any:  # noqa: ANN401
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
