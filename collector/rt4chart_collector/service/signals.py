"""SIGTERM, SIGINT, SIGHUP: the first starts the shutdown; a second, or a deadline, ends it all."""

from __future__ import annotations

import logging
import os
import select
import signal
from collections.abc import Callable
from threading import Thread

# The last one is of a terminal that is closed.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

log = logging.getLogger(__name__)


def handle_signals(stop: Callable[[], object], limit_s: float) -> None:
    """Call `stop` at the first signal, in a thread; to be called once, in the main thread.

    From then on the process has `limit_s` seconds; after that it exits with status 1, even if a
    thread hangs. Another signal ends it at once, with status 128 plus the signal's number.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # A Python handler runs only when the main thread executes Python code again. This descriptor is
    # written by the C handler, so a main thread that is blocked in a library does not matter.
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in SIGNALS:
        if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
            continue  # nohup
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
    log.critical("shutdown took longer than %g s: aborted; the next start continues", limit_s)
    os._exit(1)
