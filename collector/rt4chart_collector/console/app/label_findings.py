"""What trusted labels say of the judge, read in the background and kept for a while."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.verify.rates.reliability import ReliabilityBin, reliability
from rt4chart_collector.console.view.timed_cache import TimedCache
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate, corrected_rates
from rt4chart_collector.store.labels.draws import draws_in
from rt4chart_collector.store.labels.populations import RouteKey
from rt4chart_collector.store.labels.rater_agreement import RaterAgreement, rater_agreement
from rt4chart_collector.store.labels.trusted_labels import labels_in
from rt4chart_collector.store.schema.migrate import is_schema_missing

# Findings older than the first are read again in the background; older than the second, a page
# waits for them. What came too late is tried again after the second.
FRESH_NS, MAX_AGE_NS = 30 * 10**9, 120 * 10**9
# So long a page waits for findings that no page has asked for before: mostly, nothing was drawn.
# Those of millions of claims take seconds, and the page is shown without them.
FIRST_WAIT_S = 0.05
# Different time ranges and routes that are kept, and that are being read.
MAX_KEPT, MAX_READING = 64, 8
log = logging.getLogger(__name__)
Store: TypeAlias = Callable[[], AbstractContextManager[Client]]
_Key: TypeAlias = tuple[int, int, str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class LabelFindings:
    """The corrected rates of a scope by route, empty where nothing was drawn.

    `is_late` means that they could not be read in the time that a page has, `is_counting` that they
    are being read.
    """

    rates: Mapping[RouteKey, RouteRate] = field(default_factory=dict)
    agreement: RaterAgreement = field(default_factory=lambda: rater_agreement(()))
    is_drawn: bool = False
    is_late: bool = False
    is_counting: bool = False

    @property
    def reliability(self) -> list[ReliabilityBin]:
        """How often the judge's verdicts are right by their confidence, over all routes."""
        return reliability(one for rate in self.rates.values() for one in rate.sample)


NONE, LATE = LabelFindings(), LabelFindings(is_late=True)
COUNTING = LabelFindings(is_counting=True)


def read_findings(client: Client, scope: QueryScope) -> LabelFindings:
    """Read them; where nothing was drawn, no claim is read."""
    agreement = rater_agreement(labels_in(client, scope))
    if not draws_in(client, scope):
        return LabelFindings(agreement=agreement)
    rates = {(rate.service, rate.route): rate for rate in corrected_rates(client, scope)}
    return LabelFindings(rates, agreement, is_drawn=True)


class FindingsCache:
    """Any thread may ask. Nobody waits longer than `wait_s`, however many claims there are.

    One thread reads at a time: in a large store, all claims of a scope take seconds.
    """

    def __init__(
        self,
        store: Store,
        run_in_background: Callable[[str, Callable[[], None]], None],
        wait_s: float,
        slow_store: Store | None = None,
    ) -> None:
        """`store` opens a client for the reading that `run_in_background` runs.

        `slow_store` opens one for readings that nobody waits for, whose statements leave the engine
        to those of pages.
        """
        self._store, self._slow_store = store, slow_store or store
        self._run_in_background = run_in_background
        self._wait_s = wait_s
        self._one_at_a_time = threading.Lock()
        self._lock = threading.Lock()
        self._reading: dict[_Key, Future[LabelFindings]] = {}
        self.forget()

    def find(self, scope: QueryScope, now_ns: int, *, may_count: bool = False) -> LabelFindings:
        """What labels say of this scope, which names a verifier.

        Scopes that end now are the same for as long as findings are fresh. A page that says so
        where they are being counted (`may_count`) waits for a moment only; it asks when it has read
        all else, which a reading in the background would slow.
        """
        if not scope.verifier:
            return NONE
        seconds = (scope.until_ns - scope.since_ns) // 10**9
        ended_ns = 0 if now_ns - scope.until_ns < FRESH_NS else scope.until_ns
        key = (seconds, ended_ns, scope.verifier, scope.service, scope.route)
        read_ns, known = self._known.get(key, now_ns) or (0, None)
        if known is not None and (known.is_late or now_ns - read_ns < FRESH_NS):
            return known
        is_awaited = known is None and not may_count
        reading = self._start(key, scope, now_ns, self._store if is_awaited else self._slow_store)
        if known is not None:
            return known
        wait_s = min(self._wait_s, FIRST_WAIT_S) if may_count else self._wait_s
        try:
            return reading.result(wait_s) if reading is not None else LATE
        except LateError:
            return COUNTING if may_count else LATE

    def forget(self) -> None:
        """Read everything anew, as after a draw."""
        self._known: TimedCache[_Key, tuple[int, LabelFindings]] = TimedCache(
            most=MAX_KEPT, fresh_ns=MAX_AGE_NS
        )

    def _start(
        self, key: _Key, scope: QueryScope, now_ns: int, store: Store
    ) -> Future[LabelFindings] | None:
        """The reading of this scope, which may run already; None where too many do."""
        with self._lock:
            if key in self._reading or len(self._reading) >= MAX_READING:
                return self._reading.get(key)
            reading = self._reading[key] = Future[LabelFindings]()
        self._run_in_background(
            "label findings", partial(self._read, key, scope, now_ns, store, reading)
        )
        return reading

    def _read(
        self,
        key: _Key,
        scope: QueryScope,
        now_ns: int,
        store: Store,
        reading: Future[LabelFindings],
    ) -> None:
        known, found = self._known, LATE
        try:
            with self._one_at_a_time, store() as client:
                found = read_findings(client, scope)
        except StoreError as error:
            if is_schema_missing(error):
                found = NONE  # a console alone over the tables of an earlier version
            else:
                log.warning("rates were not corrected by labels: %s", redacted_error(error))
        finally:
            known.put(key, (now_ns, found), now_ns)
            with self._lock:
                del self._reading[key]
            reading.set_result(found)
