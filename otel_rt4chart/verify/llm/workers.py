"""A bounded pool of daemon threads for endpoint calls; every job has a deadline."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.llm.conversation import UnsentError

R = TypeVar("R")


class _PoolJob(NamedTuple):
    future: Future[Any]
    call: Callable[[], Any]
    context: Context


_Jobs: TypeAlias = "SimpleQueue[_PoolJob | None]"


class DaemonPool:
    """At most `most` daemon threads, started when there is work.

    `concurrent.futures` joins its threads at exit, so a request that hangs would delay the exit
    until it times out. A job runs with the context variables of its submitter.
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
        # Threads refer to the queue, not to the pool, so an unused pool is freed and ends them.
        weakref.finalize(self, self._jobs.put, None).atexit = False

    def submit(self, call: Callable[..., R], *arguments: object) -> Future[R]:
        """Run the call as soon as a thread is free; RuntimeError once the pool is closed."""
        future: Future[R] = Future()
        context = copy_context()
        with self._lock:
            if self._is_closed:
                raise RuntimeError("expected an open pool, this one is closed")
            if not self._idle.acquire(blocking=False) and self._started < self._most:
                self._start()
            self._jobs.put(_PoolJob(future, lambda: call(*arguments), context))
        return future

    def close(self) -> None:
        """Accept no more jobs; those already submitted still run."""
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
        except RuntimeError:  # the interpreter is shutting down; use the threads there are
            if not self._started:
                raise
        else:
            self._started += 1


def _work(jobs: _Jobs, idle: Semaphore) -> None:
    while (job := jobs.get()) is not None:
        if job.future.set_running_or_notify_cancel():
            try:
                job.future.set_result(job.context.run(job.call))
            except BaseException as error:  # noqa: BLE001 - the future raises it in the waiter
                job.future.set_exception(error)
        del job  # otherwise its result stays in memory until the next job
        idle.release()
    jobs.put(None)  # for the next thread


T = TypeVar("T")


def slow_reason(seconds: float) -> str:
    """Why there is no reply, with the settings that may help."""
    return (
        f"no reply within {seconds:g} s: the model is slow or busy; raise "
        "RT4CHART_JUDGE_TIMEOUT_S, or lower RT4CHART_JUDGE_CONCURRENCY"
    )


_CLOSED = "not sent: the endpoint is closed"


class _Ticket(NamedTuple, Generic[T]):
    """A job, and how long its result is awaited."""

    future: Future[T | JudgeError]
    deadline: Deadline


class Workers:
    """Runs at most `most` jobs at once, over all threads and event loops that submit them.

    A job is abandoned `deadline_s` after its turn. One that has begun cannot be stopped and keeps
    its thread until it ends; one that has not begun never starts.
    """

    def __init__(self, most: int, deadline_s: float) -> None:
        """No thread is started yet."""
        self._most = most
        self._deadline_s = deadline_s
        self._pool = DaemonPool(most, "rt4chart-judge")
        self._lock = Lock()
        self._open: set[Future[Any]] = set()
        self.is_closed = False

    def run(self, jobs: Sequence[Callable[[], T | JudgeError]]) -> list[T | JudgeError]:
        """The results of the jobs, in order; an error for an abandoned one. Blocks."""
        tickets = [self._ticket(job) for job in jobs]
        try:
            return list(map(self._waited_for, tickets))
        finally:
            _cancel(tickets)

    async def run_async(self, jobs: Sequence[Callable[[], T | JudgeError]]) -> list[T | JudgeError]:
        """The same, awaited; when the awaiting task is cancelled, no further job starts."""
        tickets = [self._ticket(job) for job in jobs]
        try:
            return list(await asyncio.gather(*map(self._awaited, tickets)))
        finally:
            _cancel(tickets)

    def close(self) -> None:
        """Start no more jobs, and wait for those in progress until their deadline."""
        with self._lock:
            self.is_closed = True
            under_way = set(self._open)
        self._pool.close()
        wait(under_way, timeout=self._deadline_s)

    def _ticket(self, job: Callable[[], T | JudgeError]) -> _Ticket[T]:
        """Submit a job; its time starts when the jobs before it, `most` at a time, have ended."""
        future: Future[T | JudgeError] = Future()
        with self._lock:
            turns = 1 + len(self._open) // self._most
            try:
                future = self._pool.submit(self._begun, job)
                self._open.add(future)
            except RuntimeError:  # closed, or the interpreter is ending
                future.set_result(UnsentError(_CLOSED))
        future.add_done_callback(self._ended)
        return _Ticket(future, Deadline(turns * self._deadline_s))

    def _begun(self, job: Callable[[], T | JudgeError]) -> T | JudgeError:
        return UnsentError(_CLOSED) if self.is_closed else job()

    def _ended(self, future: Future[Any]) -> None:
        with self._lock:
            self._open.discard(future)

    def _waited_for(self, ticket: _Ticket[T]) -> T | JudgeError:
        try:
            return ticket.future.result(ticket.deadline.remaining)
        except TimeoutError:
            return self._given_up(ticket)

    async def _awaited(self, ticket: _Ticket[T]) -> T | JudgeError:
        try:
            async with asyncio.timeout(ticket.deadline.remaining):
                return await asyncio.wrap_future(ticket.future)
        except TimeoutError:
            return self._given_up(ticket)

    def _given_up(self, ticket: _Ticket[Any]) -> JudgeError:
        # `cancel` succeeds only where the job has not begun.
        if ticket.future.cancel():
            return UnsentError("not sent: the calls before it took too long")
        return JudgeError(slow_reason(self._deadline_s))


def _cancel(tickets: Sequence[_Ticket[Any]]) -> None:
    for ticket in tickets:
        ticket.future.cancel()
