"""Runs pages in threads, with limits on their number and time."""

from __future__ import annotations

import asyncio
import threading
from asyncio import AbstractEventLoop, Future
from collections import defaultdict
from collections.abc import Callable
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class PageAbandonedError(Exception):
    """Nobody waits for the call of this thread any more."""


_thread = threading.local()


def check_awaited() -> None:
    """Raise PageAbandonedError where this thread runs a call that nobody waits for any more.

    For the steps of a long call, and before it takes a connection.
    """
    call: _Call[object] | None = getattr(_thread, "call", None)
    if call is not None and call.is_abandoned:
        raise PageAbandonedError


class PageThreads:
    """Runs calls in daemon threads, at most `most` at a time, and `most_of_a_kind` of one kind.

    A thread cannot be stopped: a late one keeps its place until it ends, so that slow pages cannot
    add up to more than `most` threads. It can end early with `check_awaited`.
    """

    def __init__(
        self,
        most: int,
        seconds: float,
        *,
        most_of_a_kind: int | None = None,
        name: str = "console page",
    ) -> None:
        """`seconds` is the time limit of a call, `name` that of each thread."""
        self._name = name
        limit = most if most_of_a_kind is None else most_of_a_kind
        self._kinds: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(limit)
        )
        self._free = asyncio.Semaphore(most)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: set[threading.Thread] = set()

    @property
    def alive(self) -> list[threading.Thread]:
        """The running threads."""
        with self._lock:
            return list(self._running)

    async def run(self, call: Callable[[], _Value], kind: str = "") -> _Value:
        """The result of the call; TimeoutError if it and the wait for a thread take too long.

        Cancelled, it gives its place in the queue back, and abandons a call that has begun.
        """
        places = Places(self._kinds[kind], self._free)
        async with asyncio.timeout(self._seconds):
            await places.take()
            loop = asyncio.get_running_loop()
            result: Future[_Value] = loop.create_future()
            self._start(loop, _Call(call, result, places))
            return await result

    def _start(self, loop: AbstractEventLoop, call: _Call[_Value]) -> None:
        thread = threading.Thread(target=self._live, args=(loop, call), daemon=True)
        thread.name = self._name
        with self._lock:
            # Within the lock: only a thread that was started can be waited for.
            self._running.add(thread)
            thread.start()

    def _live(self, loop: AbstractEventLoop, call: _Call[_Value]) -> None:
        _thread.call = call
        call.run()
        with self._lock:
            self._running.discard(threading.current_thread())
        try:
            loop.call_soon_threadsafe(call.end)
        except RuntimeError:  # the loop is closed: the console ended meanwhile
            call.places.give_back()


class Places:
    """A place among the calls of one kind, and one among all."""

    def __init__(self, *semaphores: asyncio.Semaphore) -> None:
        """Takes none yet; the first is waited for first."""
        self._semaphores = semaphores
        self._taken: list[asyncio.Semaphore] = []

    async def take(self) -> None:
        """Wait for all; cancelled, keep none."""
        try:
            for semaphore in self._semaphores:
                await semaphore.acquire()
                self._taken.append(semaphore)
        finally:
            if len(self._taken) < len(self._semaphores):
                self.give_back()

    def give_back(self) -> None:
        """Give all back that were taken."""
        while self._taken:
            self._taken.pop().release()


class _Call(Generic[_Value]):
    """A call, the future of its result, and the places that it holds until it ends."""

    def __init__(self, call: Callable[[], _Value], result: Future[_Value], places: Places) -> None:
        self._call = call
        self.places = places
        self._result = result
        self._value: list[_Value] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Run the call; called in the thread."""
        try:
            self._value.append(self._call())
        except BaseException as error:  # noqa: BLE001 - thread boundary: the request raises it
            self._error = error

    @property
    def is_abandoned(self) -> bool:
        """True if the request has given up."""
        return self._result.done()

    def end(self) -> None:
        """Make room and set the result; called in the loop. The request may have given up."""
        self.places.give_back()
        if self._result.done():
            return
        if self._error is not None:
            self._result.set_exception(self._error)
        else:
            self._result.set_result(self._value[0])
