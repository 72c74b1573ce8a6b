"""SIGTERM and SIGINT: the first asks for the end, the second is the end, and so is a deadline."""

from __future__ import annotations

import logging
import os
import select
import signal
from collections.abc import Callable
from threading import Thread

SIGNALS = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger(__name__)


def handle_signals(stop: Callable[[], object], limit_s: float) -> None:
    """Call `stop` at the first signal, in a thread; for the main thread, once in a process.

    From then on the process has `limit_s` seconds, then it ends with status 1, whatever hangs:
    another signal ends it at once, with 128 and the signal's number as status.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # The interpreter writes here when a signal comes, though the main thread be deep in a library.
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    Thread(
        target=_wait_for_signals, args=(reading, stop, limit_s), name="signals", daemon=True
    ).start()


def _wait_for_signals(reading: int, stop: Callable[[], object], limit_s: float) -> None:
    os.read(reading, 1)
    stop()
    ready, _, _ = select.select([reading], [], [], limit_s)
    if ready:
        os._exit(128 + os.read(reading, 1)[0])
    log.critical("the end took longer than %g s: broken off; the next start goes on", limit_s)
    os._exit(1)
