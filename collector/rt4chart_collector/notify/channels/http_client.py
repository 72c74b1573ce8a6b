"""The HTTP client for outgoing requests: one address, one deadline, a bounded reply, no secrets."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Mapping
from concurrent.futures import wait
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import httpx

from otel_rt4chart.core.errors import NotifyError, RT4ChartError
from otel_rt4chart.core.text import printable
from otel_rt4chart.core.urls import is_loopback
from rt4chart_collector.notify.channels.own_thread import start_in_thread

TIMEOUT_S = 10.0
# A hundred of the longest GitHub issues take less.
MAX_REPLY_BYTES = 32 * 2**20
MAX_REFUSAL_BYTES = 4_096
_MAX_ERROR_CHARS = 200
_MIN_SECRET_CHARS = 5
# A compressed reply could grow far beyond the limit when it is unpacked.
_HEADERS = {
    "User-Agent": "otel-rt4chart",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
}


def secrets_in_url(url: str) -> tuple[str, ...]:
    """Every part of a URL that may be secret and that a reply may repeat, the longest first."""
    parts = {url, *re.split(r"[/:@?&=,;#]+", url)}
    return tuple(sorted(parts | {unquote(part) for part in parts}, key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    reason: str
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpClient:
    """Sends requests to one service and raises `error` where one fails.

    No redirect is followed: the credentials are meant for the address that was configured.
    `secrets` are masked in error messages, which may quote the service's reply.
    `request` blocks for at most `timeout_s`.
    """

    service: str
    secrets: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S
    error: type[RT4ChartError] = NotifyError

    def request(
        self, method: str, url: str, headers: Mapping[str, str], body: object = None
    ) -> Any:  # noqa: ANN401 - JSON of another service
        """The reply's JSON, or None where the reply is not JSON. `body` is sent as JSON."""
        content = body if body is None or isinstance(body, bytes) else encode_json(body)
        sent = {**_HEADERS, **headers}
        if content is not None:
            sent["Content-Type"] = "application/json"
        # Neither httpx nor Python says so without repeating the address, which may be a secret.
        if not _is_visible_ascii(url + "".join(sent.values()).replace(" ", "")):
            raise self.failure("expected an address and headers in printable ASCII")
        try:
            request = httpx.Request(method, url, headers=sent, content=content)
            reply = _exchange(request, self._proxy(request.url), self.timeout_s)
        except (httpx.TimeoutException, TimeoutError):
            raise self.failure("cannot be reached: timed out: the reply takes too long") from None
        except (httpx.InvalidURL, ValueError):
            raise self.failure("expected an address and headers in printable ASCII") from None
        except (httpx.HTTPError, OSError) as error:
            raise self.failure(f"cannot be reached: {error}") from None
        if not 200 <= reply.status < 300:
            raise self._refusal(reply)
        if len(reply.body) > MAX_REPLY_BYTES:
            raise self.failure(f"expected at most {MAX_REPLY_BYTES // 2**20} MiB, got more")
        return _decode_json(reply.body)

    def failure(self, reason: str) -> RT4ChartError:
        """An error on one line, with the service's name and without a secret."""
        clean = " ".join(printable(reason).split())
        for secret in self.secrets:
            if len(secret) >= _MIN_SECRET_CHARS:
                clean = clean.replace(secret, "***")
        return self.error(f"{self.service}: {clean[:_MAX_ERROR_CHARS]}")

    def _proxy(self, url: httpx.URL) -> str | None:
        """The environment's proxy for the URL; the loopback is always reached directly."""
        if is_loopback(url.host) or proxy_bypass(url.netloc.decode()):
            return None
        proxy = getproxies().get(url.scheme)
        if proxy and "://" not in proxy:
            return f"http://{proxy}"
        if proxy and not proxy.lower().startswith(("http://", "https://")):
            raise self.failure(f"expected an http proxy in {url.scheme}_proxy, got another kind")
        return proxy

    def _refusal(self, reply: _Reply) -> RT4ChartError:
        if 300 <= reply.status < 400:
            return self.failure(
                f"{reply.status}: the address redirects; redirects are not followed"
            )
        text = reply.body.decode("utf-8", "replace")
        return self.failure(f"{reply.status}: {text or reply.reason}")


def encode_json(value: object) -> bytes:
    """JSON as it is sent and signed."""
    return json.dumps(value, ensure_ascii=False).encode()


class _OpenConnection:
    """The sockets of one exchange, so that another thread can end it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sockets: list[socket.socket] = []
        self._is_cut = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Follow httpx's "trace" extension, which reports each connection that was opened."""
        if event != "connection.connect_tcp.complete":
            return
        # A duplicate, because TLS takes the descriptor of the original over.
        opened = info["return_value"].get_extra_info("socket").dup()
        with self._lock:
            self._sockets.append(opened)
            if self._is_cut:
                self._shut_down()

    def cut(self) -> None:
        """Make every read and write fail at once, also during the TLS handshake."""
        with self._lock:
            self._is_cut = True
            self._shut_down()

    def close(self) -> None:
        """Release the duplicated descriptors."""
        with self._lock:
            for sock in self._sockets:
                sock.close()
            self._sockets.clear()

    def _shut_down(self) -> None:
        for sock in self._sockets:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _exchange(request: httpx.Request, proxy: str | None, timeout_s: float) -> _Reply:
    """The reply, whatever its status, or TimeoutError after `timeout_s` in all.

    httpx's timeouts are per read: a server that sends a byte now and then would be read for ever,
    and a name lookup has no timeout at all. So a thread talks, and this one watches the clock.
    """
    connection = _OpenConnection()
    request.extensions = {"trace": connection.trace, "timeout": httpx.Timeout(timeout_s).as_dict()}

    def talk() -> _Reply:
        try:
            # Not `httpx.Client`, which logs every address, and so the secret in a webhook's.
            with (
                httpx.HTTPTransport(_tls_context(), proxy=proxy) as transport,
                closing(transport.handle_request(request)) as response,
            ):
                return _read(response)
        finally:
            connection.close()

    future = start_in_thread(talk, "http-exchange")
    if not wait([future], timeout_s).done:
        connection.cut()
        raise TimeoutError
    return future.result()


def _read(response: httpx.Response) -> _Reply:
    """As much of the reply as is used; the body of a refusal may break off."""
    limit = MAX_REPLY_BYTES + 1 if response.is_success else MAX_REFUSAL_BYTES
    body = bytearray()
    try:
        for chunk in response.iter_raw():
            body += chunk
            if len(body) >= limit:
                break
    except httpx.HTTPError:
        if response.is_success:
            raise
    return _Reply(response.status_code, response.reason_phrase, bytes(body[:limit]))


@cache
def _tls_context() -> ssl.SSLContext:
    """The system's certificates, not httpx's own: a company's certificate authority is in them."""
    return ssl.create_default_context()


def _is_visible_ascii(text: str) -> bool:
    return all("!" <= char <= "~" for char in text)


def _decode_json(body: bytes) -> Any:  # noqa: ANN401
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
