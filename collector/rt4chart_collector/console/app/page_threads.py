"""Pages run in threads of their own, so many at a time and for so long."""

from __future__ import annotations

import asyncio
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class PageThreads:
    """Runs calls in threads that the process does not wait for at its end.

    A thread that is late goes on, and counts until it ends; `most` bounds them all.
    """

    def __init__(self, most: int, seconds: float) -> None:
        """None runs."""
        self._free = asyncio.Semaphore(most)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: set[threading.Thread] = set()

    @property
    def alive(self) -> list[threading.Thread]:
        """What runs now."""
        with self._lock:
            return list(self._running)

    async def run(self, call: Callable[[], _Value]) -> _Value:
        """What the call gives; TimeoutError where it takes too long or too many run already."""
        async with asyncio.timeout(self._seconds):
            await self._free.acquire()
            loop = asyncio.get_running_loop()
            result: Future[_Value] = loop.create_future()
            self._start(loop, _Call(call, result))
            return await result

    def _start(self, loop: AbstractEventLoop, call: _Call[_Value]) -> None:
        thread = threading.Thread(target=self._live, args=(loop, call), daemon=True)
        thread.name = "console page"
        with self._lock:
            self._running.add(thread)
        thread.start()

    def _live(self, loop: AbstractEventLoop, call: _Call[_Value]) -> None:
        call.make()
        with self._lock:
            self._running.discard(threading.current_thread())
        try:
            loop.call_soon_threadsafe(self._end, call)
        except RuntimeError:  # the loop is closed: the console ended meanwhile
            self._free.release()

    def _end(self, call: _Call[_Value]) -> None:
        self._free.release()
        call.tell()


class _Call(Generic[_Value]):
    """A call and who waits for it."""

    def __init__(self, call: Callable[[], _Value], result: Future[_Value]) -> None:
        self._call = call
        self._result = result
        self._value: list[_Value] = []
        self._error: BaseException | None = None

    def make(self) -> None:
        """In the thread."""
        try:
            self._value.append(self._call())
        except BaseException as error:  # noqa: BLE001 - thread boundary: the request is told
            self._error = error

    def tell(self) -> None:
        """In the loop; nobody may wait any more."""
        if self._result.done():
            return
        if self._error is not None:
            self._result.set_exception(self._error)
        else:
            self._result.set_result(self._value[0])
