"""A lock in the database: one grouping at a time, across processes and machines."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from otel_rt4chart.core.errors import StoreBusyError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease, new_holder, release_lease

_LEASE = "cluster"
# Longer than the longest page takes. A process that died blocks others for as long.
LEASE_NS = 600_000_000_000
RENEW_AFTER_NS = LEASE_NS // 5
MAX_TRIES, MAX_WAIT_MS = 4, 1500


@contextmanager
def cluster_lock(
    client: Client,
    *,
    clock: Callable[[], int] = time.time_ns,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[Callable[[], None]]:
    """Hold the lock while the block runs; the block must call the yielded function between pages.

    If two processes ask at once, both may fail: each asks again after a random wait. Raises
    StoreBusyError if another process holds the lock; the yielded function raises it if the lease
    was lost.
    """
    holder = new_holder()
    for tried in range(MAX_TRIES):
        if tried:
            wait(secrets.randbelow(MAX_WAIT_MS) / 1000)
        if acquire_lease(client, _LEASE, holder, now_ns=clock(), for_ns=LEASE_NS):
            break
    else:
        raise _busy(client)
    taken_ns = clock()

    def renew() -> None:
        nonlocal taken_ns
        now_ns = clock()
        if now_ns - taken_ns < RENEW_AFTER_NS:
            return
        # If the lease has run out, another process may hold it by now.
        if not acquire_lease(client, _LEASE, holder, now_ns=now_ns, for_ns=LEASE_NS):
            raise _busy(client)
        taken_ns = now_ns

    try:
        yield renew
    finally:
        release_lease(client, _LEASE, holder, now_ns=clock())


def _busy(client: Client) -> StoreBusyError:
    return StoreBusyError(
        f"another `rt4chart cluster` is running on {client.target.display_name}: "
        "try again when it has "
        f"finished. If it was killed, its lock expires after {LEASE_NS // 60_000_000_000} minutes"
    )
