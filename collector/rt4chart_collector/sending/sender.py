"""One request to a service of others: by TLS or to this machine, to one address, not for long."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from otel_rt4chart.errors import NotifyError, RT4ChartError
from otel_rt4chart.plain import printable
from otel_rt4chart.sampling.address import is_loopback, is_source

TIMEOUT_S = 10.0
# A hundred of the longest issues are less.
MOST_BYTES = 32 * 2**20
_SHOWN = 200
_SHORTEST_SECRET = 5
_AGENT = "otel-rt4chart"


def is_address(text: str) -> bool:
    """True for an https address, or an http one of this machine, in ASCII, without a password."""
    return "://" in text and all("!" <= char <= "~" for char in text) and is_source(text)


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
            with _opener(address).open(request, timeout=self.timeout_s) as response:
                told = _read(response, time.monotonic() + self.timeout_s)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (http.client.InvalidURL, ValueError):  # they quote the address, which may be secret
            raise self.failure("expected an address and headers in printable ASCII") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise self.failure(f"cannot be reached: {reason}") from None
        if len(told) > MOST_BYTES:
            raise self.failure(f"expected at most {MOST_BYTES // 2**20} MiB, got more")
        return _json(told)

    def failure(self, words: str) -> RT4ChartError:
        """An error with the system's name, on one line, without a secret."""
        clean = " ".join(printable(words).split())
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_SECRET:
                clean = clean.replace(secret, "***")
        return self.error(f"{self.system}: {clean[:_SHOWN]}")

    def _refused(self, error: urllib.error.HTTPError) -> RT4ChartError:
        if 300 <= error.code < 400:
            return self.failure(f"{error.code}: it redirects, and nothing is sent elsewhere")
        try:
            said = error.read(4_096).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            said = ""
        return self.failure(f"{error.code}: {said or error.reason}")


def encoded(value: object) -> bytes:
    """JSON as it is sent."""
    return json.dumps(value, ensure_ascii=False).encode()


def _read(response: http.client.HTTPResponse, until: float) -> bytes:
    """The reply, which a stranger may send byte by byte: the time-out alone is one for each."""
    told = bytearray()
    while len(told) <= MOST_BYTES and (more := response.read1(2**16)):
        told += more
        if time.monotonic() > until:
            raise TimeoutError("the reply takes too long")
    return bytes(told)


def _json(body: bytes) -> Any:  # noqa: ANN401
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


class _Nowhere(urllib.request.HTTPRedirectHandler):
    """Follows no redirection, so that it becomes an error."""

    def redirect_request(self, *_: object) -> None:
        """None: there is no other request."""


def _opener(address: str) -> urllib.request.OpenerDirector:
    """This machine is asked directly, whatever proxy the environment names."""
    if is_loopback(urlsplit(address).hostname or ""):
        return urllib.request.build_opener(_Nowhere, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_Nowhere)
