"""Work that may never end, in a thread of its own that nobody has to wait for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def start_in_thread(work: Callable[[], Result], name: str) -> Future[Result]:
    """Start the work; the future has its result or its error. The end of the process ends it."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - thread boundary: the caller raises it
            future.set_exception(error)

    Thread(target=run, name=name, daemon=True).start()
    return future
