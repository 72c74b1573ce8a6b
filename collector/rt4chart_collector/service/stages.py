"""The service's threads as blocks: started on the way in, finished in time on the way out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from rt4chart_collector.core.redacted_error import shown
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.health import WORKERS, Health
from rt4chart_collector.store.engine.connect import Client

# What a stage may take after the deadline. A worker may still store what it has decided by then,
# not begin anything new.
GRACE_S = 1.0
LAST_S = 5.0
# All of them together and the rest of the process: nothing runs longer after the deadline.
LIMIT_S = 15.0

log = logging.getLogger(__name__)


class Ending:
    """When the service has to be at its end, and which threads were left behind to keep to it."""

    def __init__(self, stop_s: float, health: Health | None = None) -> None:
        """`stop_s` seconds from `begin` on; `health` hears of it, and of threads that die."""
        self.health = health or Health()
        self._stop_s = stop_s
        self._until: float | None = None
        self._left: list[Thread] = []

    def begin(self) -> None:
        """The clock runs from the first call on."""
        if self._until is None:
            self._until = time.monotonic() + self._stop_s
            self.health.stop()

    @property
    def seconds(self) -> float:
        """What is left before the deadline."""
        self.begin()
        return max((self._until or 0.0) - time.monotonic(), 0.0)

    def join(self, threads: Sequence[Thread], grace_s: float = GRACE_S) -> bool:
        """Wait for the threads until the deadline, or `grace_s` if that is later; False if late."""
        until = time.monotonic() + max(self.seconds, grace_s)
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0.0))
        alive = [thread for thread in threads if thread.is_alive()]
        self._left += [thread for thread in alive if thread not in self._left]
        return not alive

    @property
    def is_late(self) -> bool:
        """True while a thread that was not waited for any longer still runs."""
        return any(thread.is_alive() for thread in self._left)


@contextmanager
def stage(
    name: str,
    run: Callable[[], None],
    *,
    stop: Callable[[], object],
    ending: Ending,
    abandon: Callable[[], int] | None = None,
) -> Iterator[None]:
    """One thread that runs until `stop` was called and its work is done, or the time is over.

    `abandon` gives up what it could not do in time and says how much that is.
    """
    thread = _start(name, run, ending)
    try:
        yield
    finally:
        stop()
        if not ending.join([thread]):
            left = "" if abandon is None else f"; {abandon()} requests were not stored"
            log.error("the %s did not end in time%s", name, left)


@contextmanager
def draining(
    queue: TraceQueue, workers: Sequence[Worker], giving_up: Event, *, ending: Ending
) -> Iterator[None]:
    """The workers' threads; at the end they have until the deadline for what is in the queue.

    What is left then is in the store without a decision: the next start finds it there.
    """
    threads = [_start(WORKERS, worker.run, ending) for worker in workers]
    try:
        yield
    finally:
        queue.close()
        if not ending.join(threads, 0.0):
            giving_up.set()
            left = queue.abandon()
            log.warning("%d traces not verified in time; the next start goes on with them", left)
            ending.join(threads, LAST_S)


@contextmanager
def closing(client: Client, ending: Ending) -> Iterator[Client]:
    """The connection, closed at the end; not under a thread that was left behind."""
    try:
        yield client
    finally:
        if not ending.is_late:
            client.close()


def _start(part: str, run: Callable[[], None], ending: Ending) -> Thread:
    thread = Thread(target=_live, args=(part, run, ending.health), name=part, daemon=True)
    thread.start()
    return thread


def _live(part: str, run: Callable[[], None], health: Health) -> None:
    """A thread's whole life: nothing but the service's end may end it without a word."""
    try:
        run()
        how = "returned"
    except BaseException as error:  # noqa: BLE001 - thread boundary: its death is told
        how = shown(error)
    if how != "returned" or not health.is_stopping:
        log.critical("a thread of the %s is dead, the service must be started anew: %s", part, how)
        health.report_death(part)
