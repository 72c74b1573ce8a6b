"""The issues with their figures, counted now and then: their state, owner and title always anew."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from rt4chart_clustering.triage.overview import Standing, overview
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.issue_events import aliases_among, last_events
from rt4chart_collector.store.issues import as_told

KEPT_NS = 20 * 10**9


@dataclass(frozen=True, slots=True)
class _Counted:
    at_ns: int
    found: tuple[Standing, ...]


class Standings:
    """Any thread may ask; while one counts, the others get what was counted before."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._lock = threading.Lock()
        self._counted: _Counted | None = None

    def known(self, client: Client, now_ns: int) -> list[Standing]:
        """Every issue, the worst first; what it counts may be 20 seconds old."""
        last = last_events(client)
        roots = aliases_among(last)
        counted = self._counted
        if counted is None or now_ns - counted.at_ns > KEPT_NS or _merged(counted) != roots:
            # Whoever finds another counting has the old figures, if there are any that hold.
            is_usable = counted is not None and _merged(counted) == roots
            if self._lock.acquire(blocking=not is_usable):
                try:
                    counted = self._count(client, now_ns)
                finally:
                    self._lock.release()
        found = counted.found if counted is not None else ()
        return [replace(one, issue=as_told(one.issue, last.get(one.issue.id, {}))) for one in found]

    def forget(self) -> None:
        """Count anew for whoever asks next: what an issue counts has been changed."""
        self._counted = None

    def _count(self, client: Client, now_ns: int) -> _Counted:
        counted = _Counted(now_ns, tuple(overview(client, now_ns=now_ns)))
        self._counted = counted
        return counted


def _merged(counted: _Counted) -> dict[int, int]:
    return {alias: one.issue.id for one in counted.found for alias in one.issue.aliases}
