"""Reads sampling rates from a file or a URL, and refreshes them while the process runs."""

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

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import InputError, SettingsError
from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.core.urls import is_address, is_loopback, is_source
from otel_rt4chart.sampling.policy import RatesDocument, parse_rates_document
from otel_rt4chart.sampling.sampler import Sampler

TIMEOUT_S, DEADLINE_S = 2.0, 4.0
MAX_BYTES = 64 * 1024
CHUNK_BYTES = 8 * 1024


def fetch(source: str, token: str = "", *, deadline_s: float = DEADLINE_S) -> bytes:
    """Read the source; OSError if that fails, InputError if it is too large or too slow.

    A request creates no span, takes at most `TIMEOUT_S` a read and `deadline_s` in total, and
    follows no redirection: the token is only for that address.
    """
    if not is_address(source):
        return _read_file(Path(source))
    with suppress_instrumentation():
        try:
            return _read_response(source, token, deadline_s)
        except http.client.HTTPException as error:
            raise OSError(type(error).__name__) from error


def _read_file(path: Path) -> bytes:
    # A pipe or a device could block the reader for ever.
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError("expected a file, got a directory, a pipe or a device")
    with path.open("rb") as file:
        return _check_size(file.read(MAX_BYTES + 1))


def _read_response(address: str, token: str, deadline_s: float) -> bytes:
    headers = {"Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 checked by is_source
    deadline = Deadline(deadline_s)
    with _build_opener(address).open(request, timeout=TIMEOUT_S) as response:
        text = b""
        # `read` would return only after the whole body, however slowly it is sent.
        while chunk := response.read1(CHUNK_BYTES):
            text = _check_size(text + chunk)
            if deadline.is_over:
                raise InputError(f"expected a response within {deadline_s:g} s, got a part of it")
        return text


def _check_size(text: bytes) -> bytes:
    if len(text) > MAX_BYTES:
        raise InputError(f"expected at most {MAX_BYTES // 1024} KiB, got more")
    return text


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Turns a redirection into an error."""

    def redirect_request(self, *_: object) -> None:
        """No other request."""


def _build_opener(address: str) -> urllib.request.OpenerDirector:
    """An opener without redirections; for loopback addresses also without a proxy."""
    if is_loopback(urlsplit(address).hostname or ""):
        return urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_NoRedirects)


class RatesSource:
    """Reads a file or a URL every `every_s` and applies its rates to the sampler's policy.

    A daemon thread reads at once and then periodically until `close`, also in forked children. If
    the document is unavailable or malformed, the last valid one stays in force until it expires;
    then the sampler's original policy applies. Each problem is logged once. Only the constructor
    raises: SettingsError for an invalid source.
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
        """`source` is a path, an https URL, or an http URL on the loopback interface."""
        if not is_source(source):
            raise SettingsError(
                "rates: expected a file, an https URL or a loopback http URL, got another"
            )
        self._source = source
        self._sampler = sampler
        self._every_s = every_s
        self._token = token
        self._clock = clock
        self._base_policy = sampler.policy
        self._document = RatesDocument()
        self._problem = ""
        self._stop = threading.Event()
        self._renew()
        after_fork(self._renew)

    def _renew(self) -> None:
        """Start a thread with new locks; a forked child has no thread, and held locks."""
        if self._stop.is_set():
            return
        self._lock, self._poll_lock = threading.Lock(), threading.Lock()
        self._stop = threading.Event()
        with guard("starting to read the rates"):
            threading.Thread(target=self._run, name="rt4chart-rates", daemon=True).start()

    def close(self) -> None:
        """Stop reading and restore the sampler's original policy, without waiting."""
        with self._lock:
            self._stop.set()
            self._sampler.policy = self._base_policy

    def poll(self) -> None:
        """Read once and apply the result."""
        with guard("reading the rates"), self._poll_lock:
            problem = self._read()
            if self._document.expires <= self._clock():
                self._document, problem = (
                    RatesDocument(expires=self._document.expires),
                    problem or "expired",
                )
            self._log_change(problem)
            with self._lock:
                if not self._stop.is_set():
                    self._sampler.policy = self._document.apply_to(self._base_policy)

    def _read(self) -> str:
        """Read the document; return the problem, without the address, or an empty string."""
        try:
            self._document = parse_rates_document(fetch(self._source, self._token))
        except InputError as error:
            return str(error)
        except (OSError, ValueError) as error:
            return f"cannot be read ({type(error).__name__})"
        return ""

    def _run(self) -> None:
        # A local reference: `_renew` replaces the event in a forked child.
        stop = self._stop
        self.poll()
        while not stop.wait(self._every_s):
            self.poll()

    def _log_change(self, problem: str) -> None:
        if problem != self._problem:
            if problem:
                LOG.warning("sampling rates: %s; see RT4CHART_RATES", problem)
            else:
                LOG.info("sampling rates are available again")
            self._problem = problem
