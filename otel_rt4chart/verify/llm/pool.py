"""Threads that do not keep a process from ending: a job that hangs is left behind."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")


class _Job(NamedTuple):
    future: Future[Any]
    call: Callable[[], Any]
    context: Context


_Jobs: TypeAlias = "SimpleQueue[_Job | None]"


class DaemonPool:
    """At most `most` daemon threads, started when there is work for them.

    `concurrent.futures` joins its threads when the process ends, so a request that hangs would hold
    the exit until it times out. A job sees the context variables of who submitted it.
    """

    def __init__(self, most: int, name: str) -> None:
        """No thread is started yet."""
        self._most = most
        self._name = name
        self._started = 0
        self._is_closed = False
        self._lock = Lock()
        self._idle = Semaphore(0)
        self._jobs: _Jobs = SimpleQueue()
        # Threads hold the queue, not the pool: a pool that nobody uses any more lets them go.
        weakref.finalize(self, self._jobs.put, None).atexit = False

    def submit(self, call: Callable[..., T], *arguments: object) -> Future[T]:
        """Begin the call as soon as a thread is free; RuntimeError once the pool is closed."""
        future: Future[T] = Future()
        context = copy_context()
        with self._lock:
            if self._is_closed:
                raise RuntimeError("expected an open pool, this one is closed")
            if not self._idle.acquire(blocking=False) and self._started < self._most:
                self._start()
            self._jobs.put(_Job(future, lambda: call(*arguments), context))
        return future

    def close(self) -> None:
        """Take nothing more; what was submitted is still done."""
        with self._lock:
            self._is_closed = True
            self._jobs.put(None)

    def _start(self) -> None:
        thread = Thread(
            target=_work,
            args=(self._jobs, self._idle),
            name=f"{self._name}_{self._started}",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending: the threads that are there must do
            if not self._started:
                raise
        else:
            self._started += 1


def _work(jobs: _Jobs, idle: Semaphore) -> None:
    while (job := jobs.get()) is not None:
        if job.future.set_running_or_notify_cancel():
            try:
                job.future.set_result(job.context.run(job.call))
            except BaseException as error:  # noqa: BLE001 - whoever waits for the future gets it
                job.future.set_exception(error)
        del job  # else its result would live until the next one
        idle.release()
    jobs.put(None)  # for the next thread
