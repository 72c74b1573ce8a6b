"""One grouping at a time over a database, whichever process or machine it is in."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from otel_rt4chart.core.errors import StoreBusyError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import give_back, take

NAME = "cluster"
# Longer than the longest page takes; a process that died keeps others out for so long.
LEASE_NS = 600_000_000_000
PROLONGED_NS = LEASE_NS // 5
TRIES, AT_MOST_MS = 4, 1500


@contextmanager
def locked(
    client: Client,
    *,
    clock: Callable[[], int] = time.time_ns,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[Callable[[], None]]:
    """Alone while the block runs, given that the function that comes is called between its pages.

    Of two that ask at once both may give way: each asks again after a while by chance. Raises
    StoreBusyError where another goes on, and from the function where the lease was lost.
    """
    holder = f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"
    for tried in range(TRIES):
        if tried:
            wait(secrets.randbelow(AT_MOST_MS) / 1000)
        if take(client, NAME, holder, now_ns=clock(), for_ns=LEASE_NS):
            break
    else:
        raise _busy(client)
    taken_ns = clock()

    def prolong() -> None:
        nonlocal taken_ns
        now_ns = clock()
        if now_ns - taken_ns < PROLONGED_NS:
            return
        # Whoever let the lease run out may find another in its place.
        if not take(client, NAME, holder, now_ns=now_ns, for_ns=LEASE_NS):
            raise _busy(client)
        taken_ns = now_ns

    try:
        yield prolong
    finally:
        give_back(client, NAME, holder, now_ns=clock())


def _busy(client: Client) -> StoreBusyError:
    return StoreBusyError(
        f"another rt4chart cluster groups the failures of {client.target.shown}; expected to be "
        f"alone. Try again when it is done; one that was killed is in the way for "
        f"{LEASE_NS // 60_000_000_000} minutes at most"
    )
