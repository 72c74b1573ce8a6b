"""Checks that the sums of the rates agree with the verdicts, and corrects them.

Once an hour, and when the database broke off.

Fills the sums per hour and day of the time before an upgrade, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import monotonic

from otel_rt4chart.core.deadline import Deadline
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease, release_lease
from rt4chart_collector.store.rates.rollup import (
    DAY_NS,
    LEASE_NS,
    SUMS_LEASE,
    WrongSums,
    correct_sums,
    fill_next_day,
    find_wrong_sums,
)

HOUR_NS = 3600 * 10**9
# A verdict is stored within seconds of its decision, but an answer may be decided on hours late.
SETTLED_NS = HOUR_NS // 6
# The time of a round for days that are not filled, beyond the day it is at.
FILL_BUDGET_S = 5.0

log = logging.getLogger(__name__)


class SumsCheck:
    """For one process at a time: a difference is corrected if a later round finds it again.

    A worker that is killed between the writes of two tables loses or repeats one; on a cluster a
    replica may not show a write that was just made.
    """

    def __init__(self, client: Client, holder: str) -> None:
        """`holder` names this process among those that may correct sums."""
        self._client = client
        self._holder = holder
        self._hour = -1
        self._found: Sequence[WrongSums] = ()
        self._is_filled = self._is_suspected = False

    def suspect(self) -> None:
        """Look for differences in the next round: the database broke off, perhaps in a write."""
        self._is_suspected = True

    def step(self, now_ns: int) -> int:
        """Look for differences in a new hour or on suspicion, and correct in the next round.

        Returns how many were corrected.
        """
        corrected = 0
        if self._found:
            found, self._found = self._found, ()
            # Until nothing differs: a write in progress may have hidden what is wrong.
            self._is_suspected = True
            corrected = self._run(now_ns, lambda: correct_sums(self._client, found))
            if corrected:
                log.warning("sums of rates that did not agree with the verdicts: %d", corrected)
        elif self._is_suspected or now_ns // HOUR_NS != self._hour:
            until_ns = now_ns - (0 if self._is_suspected else SETTLED_NS)
            self._found = find_wrong_sums(self._client, until_ns - DAY_NS, until_ns)
            self._hour, self._is_suspected = now_ns // HOUR_NS, False
        if not self._is_filled:
            self._run(now_ns, lambda: self._fill(now_ns))
        return corrected

    def _fill(self, now_ns: int) -> int:
        deadline = Deadline(FILL_BUDGET_S, clock=monotonic)
        while not self._is_filled and not deadline.is_over:
            self._is_filled = not fill_next_day(self._client, now_ns)
        return 0

    def _run(self, now_ns: int, work: Callable[[], int]) -> int:
        """The result of the work, 0 if another process corrects sums at the moment."""
        lease = (self._client, SUMS_LEASE, self._holder)
        if not acquire_lease(*lease, now_ns=now_ns, for_ns=LEASE_NS):
            return 0
        try:
            return work()
        finally:
            release_lease(*lease, now_ns=now_ns)
