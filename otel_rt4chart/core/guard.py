"""Nothing of ours reaches the application: one guard around everything that runs inside it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOG = logging.getLogger("otel_rt4chart")
QUIET_S = 60.0


class Guard:
    """Swallows our own exceptions and logs one a minute; `strict` lets tests see them."""

    def __init__(self) -> None:
        """Nothing was logged yet."""
        self.strict = False
        self.swallowed = 0
        self._lock = threading.Lock()
        self._last = -QUIET_S

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """Run a block of ours; `what` names it in the log."""
        try:
            yield
        except Exception as error:  # the border between us and the application
            if self.strict:
                raise
            self._note(what, error)

    def _note(self, what: str, error: Exception) -> None:
        now = time.monotonic()
        with self._lock:
            self.swallowed += 1
            is_due = now - self._last >= QUIET_S
            if is_due:
                self._last = now
        if is_due:
            # The type alone: the message may quote the users' text.
            LOG.warning("%s failed (%s); the application goes on", what, type(error).__name__)


guard = Guard()
