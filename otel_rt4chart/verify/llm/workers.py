"""Threads that wait for an endpoint: so many at once, each job with an end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from otel_rt4chart.errors import JudgeError
from otel_rt4chart.verify.llm.ask import UnsentError
from otel_rt4chart.verify.llm.pool import DaemonPool

T = TypeVar("T")
_CLOSED = "not sent: the endpoint is closed"


class _Ticket(NamedTuple, Generic[T]):
    """A job, and until when it is waited for."""

    future: Future[T | JudgeError]
    until: float


class Workers:
    """At most `most` jobs at once, whoever asks for them: threads, event loops, or both.

    A job is given up `deadline_s` after its turn. One that has begun cannot be stopped: it keeps
    its thread until it ends by itself. One that has not begun never does.
    """

    def __init__(self, most: int, deadline_s: float) -> None:
        """Threads are started when there is work."""
        self._most = most
        self._deadline_s = deadline_s
        self._pool = DaemonPool(most, "rt4chart-judge")
        self._lock = Lock()
        self._open: set[Future[Any]] = set()
        self.is_closed = False

    def run(self, jobs: Sequence[Callable[[], T | JudgeError]]) -> list[T | JudgeError]:
        """What the jobs return, in order; an error for one that was given up. Blocks."""
        tickets = [self._ticket(job) for job in jobs]
        try:
            return list(map(self._waited_for, tickets))
        finally:
            _drop(tickets)

    async def run_async(self, jobs: Sequence[Callable[[], T | JudgeError]]) -> list[T | JudgeError]:
        """The same, awaited; where the awaiting task is cancelled, no further job begins."""
        tickets = [self._ticket(job) for job in jobs]
        try:
            return list(await asyncio.gather(*map(self._awaited, tickets)))
        finally:
            _drop(tickets)

    def close(self) -> None:
        """Begin nothing more, and wait for what is under way until its deadline."""
        with self._lock:
            self.is_closed = True
            under_way = set(self._open)
        self._pool.close()
        wait(under_way, timeout=self._deadline_s)

    def _ticket(self, job: Callable[[], T | JudgeError]) -> _Ticket[T]:
        """Each job in front of this one ends by its own deadline, `most` of them at a time."""
        future: Future[T | JudgeError] = Future()
        with self._lock:
            turns = 1 + len(self._open) // self._most
            try:
                future = self._pool.submit(self._begun, job)
                self._open.add(future)
            except RuntimeError:  # closed, or the interpreter is ending
                future.set_result(UnsentError(_CLOSED))
        future.add_done_callback(self._ended)
        return _Ticket(future, time.monotonic() + turns * self._deadline_s)

    def _begun(self, job: Callable[[], T | JudgeError]) -> T | JudgeError:
        return UnsentError(_CLOSED) if self.is_closed else job()

    def _ended(self, future: Future[Any]) -> None:
        with self._lock:
            self._open.discard(future)

    def _waited_for(self, ticket: _Ticket[T]) -> T | JudgeError:
        try:
            return ticket.future.result(max(0.0, ticket.until - time.monotonic()))
        except TimeoutError:
            return self._given_up(ticket)

    async def _awaited(self, ticket: _Ticket[T]) -> T | JudgeError:
        try:
            async with asyncio.timeout(max(0.0, ticket.until - time.monotonic())):
                return await asyncio.wrap_future(ticket.future)
        except TimeoutError:
            return self._given_up(ticket)

    def _given_up(self, ticket: _Ticket[Any]) -> JudgeError:
        # Awaited futures are cancelled already, but only where the job has not begun.
        if ticket.future.cancel():
            return UnsentError("not sent: the calls before it took too long")
        return JudgeError(f"no reply within {self._deadline_s:g} s")


def _drop(tickets: Sequence[_Ticket[Any]]) -> None:
    for ticket in tickets:
        ticket.future.cancel()
