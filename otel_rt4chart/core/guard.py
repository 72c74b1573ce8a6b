"""The guard around all code that runs inside the application: no exception of ours escapes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOG = logging.getLogger("otel_rt4chart")
LOG_INTERVAL_S = 60.0


class Guard:
    """Swallows our exceptions and logs at most one a minute; `strict` re-raises them for tests."""

    def __init__(self) -> None:
        """A guard that has swallowed nothing."""
        self.strict = False
        self.swallowed = 0
        self._lock = threading.Lock()
        self._last = -LOG_INTERVAL_S

    @contextmanager
    def __call__(self, what: str, *, is_own_thread: bool = False) -> Iterator[None]:
        """Run a block; `what` describes it in the log.

        In a thread of our own nothing may escape: there, `SystemExit`, a cancellation of asyncio or
        a timeout of gevent would only end the thread. In the application's threads they must pass.
        """
        try:
            yield
        except BaseException as error:  # the boundary to the application
            if self.strict or not (is_own_thread or isinstance(error, Exception)):
                raise
            self._log_failure(what, error)

    def _log_failure(self, what: str, error: BaseException) -> None:
        now = time.monotonic()
        with self._lock:
            self.swallowed += 1
            is_due = now - self._last >= LOG_INTERVAL_S
            if is_due:
                self._last = now
        if is_due:
            # Only the type: the message may quote users' text.
            LOG.warning(
                "%s failed (%s); the application is not affected", what, type(error).__name__
            )


guard = Guard()
