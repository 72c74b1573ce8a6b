"""The threads of a process as context managers: started on entry, stopped in time on exit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

from otel_rt4chart.core.deadline import Deadline
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.pipeline.look_ahead import LookAhead
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.health import WORKERS, Health
from rt4chart_collector.store.engine.connect import Client

# The time for a stage after the deadline. Workers get more: they begin nothing new, but still store
# the decisions that they have made.
GRACE_S = 1.0
LAST_S = 5.0
# The limit for all stages and the rest of the process after the deadline.
LIMIT_S = 15.0

log = logging.getLogger(__name__)


class Shutdown:
    """The shutdown of a process: its deadline, and the threads that did not end in time."""

    def __init__(self, stop_s: float, health: Health | None = None) -> None:
        """`stop_s` is the time from `begin`; `health` records the shutdown and dead threads."""
        self.health = health or Health()
        self._stop_s = stop_s
        self._deadline: Deadline | None = None
        self._left: list[Thread] = []
        self._reading: list[Thread] = []

    def begin(self) -> Deadline:
        """The deadline by which the threads must have ended; the first call starts it."""
        if self._deadline is None:
            self._deadline = Deadline(self._stop_s)
            self.health.stop()
        return self._deadline

    def join(self, threads: Sequence[Thread], grace_s: float = GRACE_S) -> bool:
        """Wait for the threads until the deadline, at least `grace_s`; False if one still runs."""
        deadline = Deadline(max(self.begin().remaining, grace_s))
        for thread in threads:
            thread.join(deadline.remaining)
        alive = [thread for thread in threads if thread.is_alive()]
        self._left += [thread for thread in alive if thread not in self._left]
        return not alive

    def join_readers(self, threads: Sequence[Thread], grace_s: float = GRACE_S) -> bool:
        """Wait for threads that only read the store; False if one still runs."""
        deadline = Deadline(grace_s)
        for thread in threads:
            thread.join(deadline.remaining)
        alive = [thread for thread in threads if thread.is_alive()]
        if alive:
            log.warning(
                "%d read statements did not end: the database is not closed, which loses nothing",
                len(alive),
            )
        self._reading += alive
        return not alive

    @property
    def is_late(self) -> bool:
        """True while a thread that did not end in time still runs."""
        return any(thread.is_alive() for thread in (*self._left, *self._reading))

    @property
    def status(self) -> int:
        """The exit status: 1 if a thread with work did not end in time, else 0."""
        return int(any(thread.is_alive() for thread in self._left))


@contextmanager
def stage(
    name: str,
    run: Callable[[], None],
    *,
    stop: Callable[[], object],
    shutdown: Shutdown,
    abandon: Callable[[], int] | None = None,
) -> Iterator[None]:
    """Run one thread; on exit, `stop` it and wait until its work is done or time is up.

    `abandon` drops the unfinished work, and returns its amount.
    """
    thread = _start(name, run, shutdown)
    try:
        yield
    finally:
        stop()
        if not shutdown.join([thread]):
            left = "" if abandon is None else f"; {abandon()} requests were not stored"
            log.error("the %s did not end in time%s", name, left)


@contextmanager
def workers_running(
    look_ahead: LookAhead,
    workers: Sequence[Worker],
    saver: OutcomeSaver,
    giving_up: Event,
    *,
    shutdown: Shutdown,
) -> Iterator[None]:
    """Run the look-ahead, the workers and the saver.

    On exit, they have until the deadline to empty the queue. Traces that are left then remain in
    the store without a decision, where the next start finds them.
    """
    saving = _start(WORKERS, saver.run, shutdown)
    threads = [_start(WORKERS, look_ahead.run, shutdown)]
    threads += [_start(WORKERS, partial(worker.run, look_ahead), shutdown) for worker in workers]
    try:
        yield
    finally:
        look_ahead.queue.close()
        if not shutdown.join(threads, 0.0):
            giving_up.set()
            left = look_ahead.abandon()
            log.warning("%d traces not verified in time; the next start verifies them", left)
            last = Deadline(LAST_S)
            shutdown.join(threads, LAST_S)
            saver.close()
            shutdown.join([saving], max(last.remaining, GRACE_S))
        saver.close()
        if not shutdown.join([saving]):
            giving_up.set()
            shutdown.join([saving])


@contextmanager
def closing(client: Client, shutdown: Shutdown) -> Iterator[Client]:
    """Close the connection on exit, unless a thread that did not end may still use it.

    Closing it under that thread could crash the process in the engine's native code.
    """
    try:
        yield client
    finally:
        if not shutdown.is_late:
            client.close()


def _start(part: str, run: Callable[[], None], shutdown: Shutdown) -> Thread:
    thread = Thread(target=_run_reported, args=(part, run, shutdown.health), name=part, daemon=True)
    thread.start()
    return thread


def _run_reported(part: str, run: Callable[[], None], health: Health) -> None:
    """Run a thread's function, and report if it ends before the shutdown."""
    try:
        run()
        cause = "returned"
    except BaseException as error:  # noqa: BLE001 - thread boundary: its death is reported
        cause = redacted_error(error)
    if cause != "returned" or not health.is_stopping:
        log.critical("a thread of the %s is dead, restart the service: %s", part, cause)
        health.report_death(part)
