"""A cache of the ranked issues: figures are counted at intervals, states and titles every time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from otel_rt4chart.core.errors import StoreError
from rt4chart_clustering.triage.ranking import RankedIssue, rank_issues
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import last_events, resolve_aliases
from rt4chart_collector.store.issues.issues import apply_events, last_written

# Figures older than the first are counted again in the background, older than the second now.
FRESH_NS, MAX_AGE_NS = 20 * 10**9, 300 * 10**9


@dataclass(frozen=True, slots=True)
class _Ranking:
    at_ns: int
    found: tuple[RankedIssue, ...]
    written: tuple[int, int]

    @property
    def merged(self) -> dict[int, int]:
        """Each alias, with the issue that its failures were counted for."""
        return {alias: row.issue.id for row in self.found for alias in row.issue.aliases}


class RankingCache:
    """Any thread may ask. One thread counts at a time, which takes seconds in a large store."""

    def __init__(
        self,
        store: Callable[[], AbstractContextManager[Client]],
        run_in_background: Callable[[str, Callable[[], None]], None],
    ) -> None:
        """`store` opens a client for the counting that `run_in_background` runs."""
        self._store = store
        self._run_in_background = run_in_background
        self._lock = threading.Lock()
        self._counted: _Ranking | None = None

    def ranked_issues(self, client: Client, now_ns: int) -> list[RankedIssue]:
        """Every issue, the worst first; a merge or a new grouping is counted at once."""
        last = last_events(client)
        counted = self._counted
        is_current = (
            counted is not None
            and counted.merged == resolve_aliases(last)
            and counted.written == last_written(client)
        )
        if counted is None or not is_current or now_ns - counted.at_ns > MAX_AGE_NS:
            with self._lock:
                counted = self._count(client, now_ns)
        elif now_ns - counted.at_ns > FRESH_NS and self._lock.acquire(blocking=False):
            self._run_in_background("issue figures", partial(self._renew, now_ns))
        return [
            replace(row, issue=apply_events(row.issue, last.get(row.issue.id, {})))
            for row in counted.found
        ]

    def invalidate(self) -> None:
        """Make the next call count again, because the figures of an issue have changed."""
        self._counted = None

    def _renew(self, now_ns: int) -> None:
        """Count in a thread that holds the lock already; an unreachable store is no error."""
        try:
            with self._store() as client:
                self._count(client, now_ns)
        except StoreError:
            return
        finally:
            self._lock.release()

    def _count(self, client: Client, now_ns: int) -> _Ranking:
        written = last_written(client)  # first: what is written meanwhile is counted next time
        counted = _Ranking(now_ns, tuple(rank_issues(client, now_ns=now_ns)), written)
        self._counted = counted
        return counted
