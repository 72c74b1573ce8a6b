"""The bytes of a file or of an address, few and soon."""

from __future__ import annotations

import http.client
import stat
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from opentelemetry.instrumentation.utils import suppress_instrumentation

from otel_rt4chart.errors import InputError
from otel_rt4chart.sampling.address import is_address, is_loopback

TIMEOUT_S, PATIENCE_S = 2.0, 4.0
MOST_BYTES = 64 * 1024
CHUNK_BYTES = 8 * 1024


def fetch(source: str, token: str = "", *, patience_s: float = PATIENCE_S) -> bytes:
    """Read the source whole; OSError where it cannot be, InputError where it is too long or slow.

    An address is asked without a span, for `TIMEOUT_S` at each wait and `patience_s` in all. It is
    not followed elsewhere: the token is for the one that was named.
    """
    if not is_address(source):
        return _file(Path(source))
    with suppress_instrumentation():
        try:
            return _answer(source, token, patience_s)
        except http.client.HTTPException as error:
            raise OSError(type(error).__name__) from error


def _file(path: Path) -> bytes:
    # A pipe or a device would keep the reader waiting.
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError("expected a file, got a directory, a pipe or a device")
    with path.open("rb") as file:
        return _bounded(file.read(MOST_BYTES + 1))


def _answer(address: str, token: str, patience_s: float) -> bytes:
    headers = {"Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 checked by is_source
    deadline = time.monotonic() + patience_s
    with _opener(address).open(request, timeout=TIMEOUT_S) as response:
        text = b""
        while chunk := response.read1(CHUNK_BYTES):
            text = _bounded(text + chunk)
            if time.monotonic() > deadline:
                raise InputError(f"expected an answer within {patience_s:g} s, got a part of it")
        return text


def _bounded(text: bytes) -> bytes:
    if len(text) > MOST_BYTES:
        raise InputError(f"expected at most {MOST_BYTES // 1024} KiB, got more")
    return text


class _Nowhere(urllib.request.HTTPRedirectHandler):
    """Follows no redirection, so that it becomes an error."""

    def redirect_request(self, *_: object) -> None:
        """None: there is no other request."""


def _opener(address: str) -> urllib.request.OpenerDirector:
    """The loopback is asked directly, whatever proxy the environment names."""
    if is_loopback(urlsplit(address).hostname or ""):
        return urllib.request.build_opener(_Nowhere, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_Nowhere)
