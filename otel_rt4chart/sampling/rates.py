"""Sampling rates from a file or an address, refreshed while the process runs."""

from __future__ import annotations

import http.client
import stat
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from opentelemetry.instrumentation.utils import suppress_instrumentation

from otel_rt4chart.core.errors import InputError, SettingsError
from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.core.urls import is_address, is_loopback, is_source
from otel_rt4chart.sampling.policy import Told, told_from_document
from otel_rt4chart.sampling.sampler import Sampler

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


class RatesSource:
    """Reads a file or an address every `every_s` and puts its rates over the sampler's policy.

    A thread of its own reads at once and from then on, in forked children too, until `close`; it
    keeps no process from ending. Where a document cannot be had or read the last good one goes on
    to hold, at most until it expires: then the policy holds that the sampler came with. Each
    problem is logged once. Nothing is raised but SettingsError for a source that is none.
    """

    def __init__(
        self,
        source: str,
        sampler: Sampler,
        every_s: float = 15.0,
        *,
        token: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`source` is a path, an https address, or an http address of the loopback."""
        if not is_source(source):
            raise SettingsError(
                "rates: expected a file, an https address, or http at the loopback, got another"
            )
        self._source = source
        self._sampler = sampler
        self._every_s = every_s
        self._token = token
        self._clock = clock
        self._own = sampler.policy
        self._told = Told()
        self._problem = ""
        self._stop = threading.Event()
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        """A thread, and what it waits on; in a forked child the old ones are of no use."""
        if self._stop.is_set():
            return
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._stop = threading.Event()
        with guard("starting to read the rates"):
            threading.Thread(target=self._run, name="rt4chart-rates", daemon=True).start()

    def close(self) -> None:
        """Read no more, and put the sampler's own policy back; waits for nothing."""
        with self._lock:
            self._stop.set()
            self._sampler.policy = self._own

    def poll(self) -> None:
        """Read once, and take up what is there."""
        with guard("reading the rates"), self._reading:
            problem = self._read()
            if self._told.expires <= self._clock():
                self._told, problem = Told(expires=self._told.expires), problem or "expired"
            self._note(problem)
            with self._lock:
                if not self._stop.is_set():
                    self._sampler.policy = self._told.over(self._own)

    def _read(self) -> str:
        """Keep what the source tells; else say what is wrong, without the address."""
        try:
            self._told = told_from_document(fetch(self._source, self._token))
        except InputError as error:
            return str(error)
        except (OSError, ValueError) as error:
            return f"cannot be read ({type(error).__name__})"
        return ""

    def _run(self) -> None:
        # In a forked child that closes and opens again the event would be another one.
        stop = self._stop
        self.poll()
        while not stop.wait(self._every_s):
            self.poll()

    def _note(self, problem: str) -> None:
        if problem != self._problem:
            if problem:
                LOG.warning("rates from outside: %s; see RT4CHART_RATES", problem)
            else:
                LOG.info("rates from outside are read again")
            self._problem = problem
