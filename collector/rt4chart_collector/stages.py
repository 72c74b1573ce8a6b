"""The service's threads as blocks: started on the way in, finished on the way out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from rt4chart_collector.trace_queue import TraceQueue
from rt4chart_collector.work import Worker

# After the deadline a worker may still store what it has decided, not begin anything new.
LAST_S = 5.0

log = logging.getLogger(__name__)


@contextmanager
def stage(name: str, run: Callable[[], None], *, stop: Callable[[], None]) -> Iterator[None]:
    """One thread that runs until `stop` was called and its work is done."""
    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop()
        thread.join()


@contextmanager
def draining(
    queue: TraceQueue, workers: Sequence[Worker], giving_up: Event, *, stop_s: float
) -> Iterator[None]:
    """The workers' threads; at the end they have `stop_s` seconds for what is in the queue.

    What is left then is in the store without a decision: the next start finds it there.
    """
    threads = [Thread(target=worker.run, name="worker", daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        queue.close()
        _join(threads, stop_s)
        if any(thread.is_alive() for thread in threads):
            giving_up.set()
            left = queue.abandon()
            log.warning("%d traces not verified in time; the next start goes on with them", left)
            _join(threads, LAST_S)


def _join(threads: Sequence[Thread], seconds: float) -> None:
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
