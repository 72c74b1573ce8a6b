"""The issues with their figures, counted now and then: their state, owner and title always anew."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from otel_rt4chart.core.errors import StoreError
from rt4chart_clustering.triage.overview import Standing, overview
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import aliases_among, last_events
from rt4chart_collector.store.issues.issues import as_told

# Figures older than the one are counted again while they are shown, than the other before.
FRESH_NS, KEPT_NS = 20 * 10**9, 300 * 10**9


@dataclass(frozen=True, slots=True)
class _Counted:
    at_ns: int
    found: tuple[Standing, ...]

    @property
    def merged(self) -> dict[int, int]:
        """The aliases that were counted with another issue, and with which."""
        return {alias: one.issue.id for one in self.found for alias in one.issue.aliases}


class Standings:
    """Any thread may ask; one counts at a time, at large stores for seconds."""

    def __init__(
        self,
        store: Callable[[], AbstractContextManager[Client]],
        beside: Callable[[str, Callable[[], None]], None],
    ) -> None:
        """Nothing is counted yet; `store` gives a client to what runs `beside` the pages."""
        self._store = store
        self._beside = beside
        self._lock = threading.Lock()
        self._counted: _Counted | None = None

    def known(self, client: Client, now_ns: int) -> list[Standing]:
        """Every issue, the worst first; a merge is counted at once."""
        last = last_events(client)
        counted = self._counted
        is_held = counted is not None and counted.merged == aliases_among(last)
        if counted is None or not is_held or now_ns - counted.at_ns > KEPT_NS:
            with self._lock:
                counted = self._count(client, now_ns)
        elif now_ns - counted.at_ns > FRESH_NS and self._lock.acquire(blocking=False):
            self._beside("issue figures", partial(self._renew, now_ns))
        return [
            replace(one, issue=as_told(one.issue, last.get(one.issue.id, {})))
            for one in counted.found
        ]

    def forget(self) -> None:
        """Count anew for whoever asks next: what an issue counts has been changed."""
        self._counted = None

    def _renew(self, now_ns: int) -> None:
        """Count in a thread, which the lock was taken for; a store that is away is left alone."""
        try:
            with self._store() as client:
                self._count(client, now_ns)
        except StoreError:
            return
        finally:
            self._lock.release()

    def _count(self, client: Client, now_ns: int) -> _Counted:
        counted = _Counted(now_ns, tuple(overview(client, now_ns=now_ns)))
        self._counted = counted
        return counted
