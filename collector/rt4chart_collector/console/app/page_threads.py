"""Runs pages in threads, with limits on their number and time."""

from __future__ import annotations

import asyncio
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class PageThreads:
    """Runs calls in daemon threads, at most `most` at a time.

    A thread cannot be stopped: a late one keeps its place until it ends, so that slow pages cannot
    add up to more than `most` threads.
    """

    def __init__(self, most: int, seconds: float, *, name: str = "console page") -> None:
        """`seconds` is the time limit of a call, `name` that of each thread."""
        self._name = name
        self._free = asyncio.Semaphore(most)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: set[threading.Thread] = set()

    @property
    def alive(self) -> list[threading.Thread]:
        """The running threads."""
        with self._lock:
            return list(self._running)

    async def run(self, call: Callable[[], _Value]) -> _Value:
        """The result of the call; TimeoutError if it and the wait for a thread take too long."""
        async with asyncio.timeout(self._seconds):
            await self._free.acquire()
            loop = asyncio.get_running_loop()
            result: Future[_Value] = loop.create_future()
            self._start(loop, _Call(call, result))
            return await result

    def _start(self, loop: AbstractEventLoop, call: _Call[_Value]) -> None:
        thread = threading.Thread(target=self._live, args=(loop, call), daemon=True)
        thread.name = self._name
        with self._lock:
            # Within the lock: only a thread that was started can be waited for.
            self._running.add(thread)
            thread.start()

    def _live(self, loop: AbstractEventLoop, call: _Call[_Value]) -> None:
        call.run()
        with self._lock:
            self._running.discard(threading.current_thread())
        try:
            loop.call_soon_threadsafe(self._end, call)
        except RuntimeError:  # the loop is closed: the console ended meanwhile
            self._free.release()

    def _end(self, call: _Call[_Value]) -> None:
        self._free.release()
        call.set_result()


class _Call(Generic[_Value]):
    """A call and the future of its result."""

    def __init__(self, call: Callable[[], _Value], result: Future[_Value]) -> None:
        self._call = call
        self._result = result
        self._value: list[_Value] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Run the call; called in the thread."""
        try:
            self._value.append(self._call())
        except BaseException as error:  # noqa: BLE001 - thread boundary: the request raises it
            self._error = error

    def set_result(self) -> None:
        """Set the result; called in the loop. The request may have given up already."""
        if self._result.done():
            return
        if self._error is not None:
            self._result.set_exception(self._error)
        else:
            self._result.set_result(self._value[0])
