"""One request and its whole reply, within a time that the other end cannot stretch.

A socket's time-out is one for each read: who sends a byte now and then would be read for ever.
"""

from __future__ import annotations

import http.client
import socket
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import TypeVar
from urllib.parse import urlsplit

from otel_rt4chart.core.urls import is_loopback

_Reply = TypeVar("_Reply")
LATE = "timed out: the reply takes too long"


class Wire:
    """The connections of one exchange, to be cut from another thread."""

    def __init__(self) -> None:
        """None yet."""
        self._lock = Lock()
        self._ends: list[socket.socket] = []
        self._is_cut = False

    def add(self, end: socket.socket) -> None:
        """Know of one; its descriptor is this wire's own, for TLS takes the other over."""
        with self._lock:
            self._ends.append(end.dup())
            if self._is_cut:
                self._shut()

    def cut(self) -> None:
        """Whoever reads or writes there is told at once."""
        with self._lock:
            self._is_cut = True
            self._shut()

    def close(self) -> None:
        """Give the descriptors back."""
        with self._lock:
            for end in self._ends:
                end.close()
            self._ends.clear()

    def _shut(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def exchanged(
    request: urllib.request.Request,
    read: Callable[[http.client.HTTPResponse], _Reply],
    *,
    timeout_s: float,
) -> _Reply:
    """What `read` makes of the reply, whatever its status; TimeoutError after `timeout_s` in all.

    No redirection is followed.
    """
    wire = Wire()
    future: Future[_Reply] = Future()

    def talk() -> None:
        try:
            with _opener(request.full_url, wire).open(request, timeout=timeout_s) as response:
                future.set_result(read(response))
        except BaseException as error:  # noqa: BLE001 - thread boundary: the caller is told
            future.set_exception(error)
        finally:
            wire.close()

    Thread(target=talk, name="sending", daemon=True).start()
    if not wait([future], timeout_s).done:
        wire.cut()
        raise TimeoutError(LATE)
    return future.result()


class _Plain(http.client.HTTPConnection):
    """A connection that its wire knows."""

    wire: Wire

    def connect(self) -> None:
        """Connect, before TLS is begun."""
        super().connect()
        self.wire.add(self.sock)


class _Secure(http.client.HTTPSConnection, _Plain):
    """The same: `HTTPSConnection` connects by way of `_Plain`, and then begins TLS."""


def _made(
    kind: type[_Plain], wire: Wire, host: str, *, timeout: float
) -> http.client.HTTPConnection:
    made = kind(host, timeout=timeout)
    made.wire = wire
    return made


class _ByPlain(urllib.request.HTTPHandler):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_made, _Plain, self._wire), req)


class _BySecure(urllib.request.HTTPSHandler):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_made, _Secure, self._wire), req)


def _opener(address: str, wire: Wire) -> urllib.request.OpenerDirector:
    """This machine is asked directly, whatever proxy the environment names.

    Without urllib's handlers of errors, every status is a reply.
    """
    opener = urllib.request.OpenerDirector()
    handlers = [urllib.request.UnknownHandler(), _ByPlain(wire), _BySecure(wire)]
    is_near = is_loopback(urlsplit(address).hostname or "")
    for handler in [urllib.request.ProxyHandler({} if is_near else None), *handlers]:
        opener.add_handler(handler)
    return opener
