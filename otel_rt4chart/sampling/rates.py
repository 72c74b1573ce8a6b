"""Rates from outside, taken up while the process runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from otel_rt4chart.errors import InputError, SettingsError
from otel_rt4chart.forks import after_fork
from otel_rt4chart.guard import LOG, guard
from otel_rt4chart.sampling.address import is_source
from otel_rt4chart.sampling.document import Told, told_from_document
from otel_rt4chart.sampling.fetch import fetch
from otel_rt4chart.sampling.sampler import Sampler


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
