"""A bounded pool of store clients, each used by one thread at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.console.app.page_threads import check_awaited
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.ownership import blocks_owner, is_claimed_elsewhere
from rt4chart_collector.store.schema.tenant_client import TenantClient

# How long the embedded engine is kept open for the next page.
IDLE_S = 2.0
# The engine pauses reading for a higher number while statements of a lower one run, but not what it
# does with the rows: one thread leaves the other cores to pages, and takes longer.
# From the fourth time on, the engine compiles what a statement computes: that took up to 300 ms,
# more than the compiled code saves in a page's statements.
PAGE_SETTINGS = {
    "priority": "1",
    "compile_expressions": "0",
    "compile_aggregate_expressions": "0",
    "compile_sort_description": "0",
}
BACKGROUND_SETTINGS = {"priority": "10", "max_threads": "1", "max_execution_time": "60"}


class ClientPool:
    """At most `size` clients, from `open_client`; a request waits at most `wait_s` for one."""

    def __init__(self, open_client: Callable[[], Client], size: int, wait_s: float) -> None:
        """Opens no client, so that the console starts without the store."""
        self._open = open_client
        self._free = threading.Semaphore(size)
        self._spares = threading.Semaphore(size // 2)
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._idle: list[Client] = []
        self._is_closed = False
        self._idle_until = Deadline(0.0)
        self._is_timed = False

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client for this thread while the block runs; a StoreError in the block closes it.

        Raises StoreError if no client is free in time or the store cannot be reached, and
        PageAbandonedError where nobody waits for the page any more.
        """
        self._wait_for_place()
        with self._taken() as client:
            yield client

    @contextmanager
    def background(self) -> Iterator[Client]:
        """Like `client`, for statements of seconds that leave the engine to those of pages."""
        self._wait_for_place()
        try:
            client = self._open_unless_closed()
            try:
                client.set_settings(BACKGROUND_SETTINGS)
                yield client
            finally:
                client.close()
        finally:
            self._free.release()

    @contextmanager
    def spare(self) -> Iterator[Client | None]:
        """A second client of a page, like `client`; None where no client is free at once.

        At least half of the clients are left to pages that have none.
        """
        if not self._spares.acquire(blocking=False):
            yield None
            return
        try:
            if not self._free.acquire(blocking=False):
                yield None
                return
            with self._taken() as client:
                yield client
        finally:
            self._spares.release()

    def close(self) -> None:
        """Close idle clients now, and busy clients when they are returned."""
        with self._lock:
            self._is_closed = True
        self._drop()

    def _wait_for_place(self) -> None:
        check_awaited()
        begin = time.monotonic()
        if not self._free.acquire(timeout=self._wait_s):
            waited = time.monotonic() - begin
            raise StoreError(f"no connection of the console became free within {waited:.0f} s")

    @contextmanager
    def _taken(self) -> Iterator[Client]:
        """A client for the place among the free ones that was taken, which is given back."""
        try:
            client, is_well = self._take(), True
            try:
                yield client
            except StoreError:
                # The connection may be broken: the next page opens a new one.
                is_well = False
                raise
            finally:
                self._give(client, is_well=is_well)
        finally:
            self._free.release()

    def _take(self) -> Client:
        with self._lock:
            if self._idle and not self._is_closed:
                return self._idle.pop()
        return self._open_unless_closed()

    def _open_unless_closed(self) -> Client:
        if self._is_closed:
            raise StoreError("the console is shutting down")
        return self._open()

    def _give(self, client: Client, *, is_well: bool) -> None:
        with self._lock:
            self._idle_until = Deadline(IDLE_S)
            is_kept = is_well and not self._is_closed
            if is_kept:
                self._idle.append(client)
        if not is_kept:
            client.close()
            # The idle ones may be connections to a service that has stopped.
            self._drop()
        elif blocks_owner(client):
            self._return(client)

    def _return(self, client: Client) -> None:
        """Release the database folder: at once if a service waits for it, else after a pause."""
        if is_claimed_elsewhere(client.target):
            self._drop()
            return
        with self._lock:
            if self._is_timed:
                return
            self._is_timed = True
        threading.Thread(target=self._wait, name="console store", daemon=True).start()

    def _wait(self) -> None:
        while (left := self._idle_until.remaining) > 0:
            time.sleep(left)
        with self._lock:
            self._is_timed = False
        self._drop()

    def _drop(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()


class TenantPool:
    """The clients of a pool, each of which shows one tenant alone."""

    def __init__(self, pool: ClientPool, tenant: str) -> None:
        """The pool stays open for others."""
        self._pool = pool
        self._tenant = tenant

    @contextmanager
    def client(self) -> Iterator[Client]:
        """As `ClientPool.client`."""
        with self._pool.client() as client:
            yield TenantClient(client, self._tenant)

    @contextmanager
    def background(self) -> Iterator[Client]:
        """As `ClientPool.background`."""
        with self._pool.background() as client:
            yield TenantClient(client, self._tenant)

    @contextmanager
    def spare(self) -> Iterator[Client | None]:
        """As `ClientPool.spare`."""
        with self._pool.spare() as client:
            yield None if client is None else TenantClient(client, self._tenant)

    def close(self) -> None:
        """Nothing: the pool is not this one's."""
