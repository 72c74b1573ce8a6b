"""The console's connections to the store: few, opened when needed, for one thread at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from otel_rt4chart.errors import StoreError
from rt4chart_collector.store.connect import Client


class Pool:
    """At most `size` clients, from `open_client`; a request waits at most `wait_s` for one."""

    def __init__(self, open_client: Callable[[], Client], size: int, wait_s: float) -> None:
        """Nothing is opened yet: the store may be away."""
        self._open = open_client
        self._free = threading.Semaphore(size)
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._idle: list[Client] = []
        self._is_closed = False

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client for this thread while the block runs; after an error of the store it is closed.

        Raises StoreError where none is free in time, or the store is away.
        """
        begin = time.monotonic()
        if not self._free.acquire(timeout=self._wait_s):
            waited = time.monotonic() - begin
            raise StoreError(f"all connections of the console are busy since {waited:.0f} s")
        try:
            client, is_well = self._take(), True
            try:
                yield client
            except StoreError:
                # It may be the connection: the next page has another.
                is_well = False
                raise
            finally:
                self._give(client, is_well=is_well)
        finally:
            self._free.release()

    def close(self) -> None:
        """Close what is idle now, and what is in use when it comes back."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()

    def _take(self) -> Client:
        with self._lock:
            if self._is_closed:
                raise StoreError("the console is ending")
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _give(self, client: Client, *, is_well: bool) -> None:
        with self._lock:
            if is_well and not self._is_closed:
                self._idle.append(client)
                return
        client.close()
