"""Whether the service takes spans now, and if not, why, in one word."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.connect import Client

STOPPING, STORE_UNREACHABLE, QUEUE_FULL = "stopping", "store_unreachable", "queue_full"
WRITER, ASSEMBLER, WORKERS = "writer", "assembler", "workers"
REASONS = (
    STOPPING,
    *(f"{part}_dead" for part in (WRITER, ASSEMBLER, WORKERS)),
    STORE_UNREACHABLE,
    QUEUE_FULL,
)
PAUSE_S = 2.0
# The store is away where it has not said anything for so long, or refused an insert so lately.
SILENCE_S, REFUSAL_S = 5.0, 10.0


class Health:
    """Collects what is wrong; any thread may tell and ask."""

    def __init__(self) -> None:
        """Nothing is wrong."""
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._looks: dict[str, Callable[[], bool]] = {}

    def look(self, reason: str, is_so: Callable[[], bool]) -> None:
        """Ask `is_so` from now on whether `reason`, one of `REASONS`, holds."""
        with self._lock:
            self._looks[reason] = is_so

    def died(self, part: str) -> None:
        """A thread of that part ended that should not have: it does not come back."""
        with self._lock:
            self._held.add(f"{part.replace(' ', '_')}_dead")

    def stop(self) -> None:
        """Nothing is taken any more."""
        with self._lock:
            self._held.add(STOPPING)

    @property
    def is_stopping(self) -> bool:
        """True once the end has begun."""
        with self._lock:
            return STOPPING in self._held

    @property
    def reasons(self) -> tuple[str, ...]:
        """All that holds now, the first of `REASONS` first; nothing where spans are taken."""
        with self._lock:
            looks, held = dict(self._looks), set(self._held)
        held |= {reason for reason, is_so in looks.items() if is_so()}
        return tuple(sorted(held, key=lambda one: (*REASONS, one).index(one)))


class StoreWatch:
    """Asks the store every two seconds over a connection of its own; `run` is a thread's life.

    A store that hangs is away too, though nothing failed yet.
    """

    def __init__(self, client: Client) -> None:
        """Not away, as long as nothing is known."""
        self._client = client
        self._stopping = threading.Event()
        self._has_failed = False
        self._asked_at: float | None = None
        self._refused_at: float | None = None

    def run(self) -> None:
        """Ask until stopped."""
        while not self._stopping.wait(PAUSE_S):
            self.ask()

    def stop(self) -> None:
        """Let `run` end."""
        self._stopping.set()

    def ask(self) -> None:
        """Ask once."""
        self._asked_at = time.monotonic()
        try:
            self._client.command("SELECT 1")
        except StoreError:
            self._has_failed = True
        else:
            self._has_failed = False
        self._asked_at = None

    def inserted(self, *, is_stored: bool) -> None:
        """What came of an insert: a store may answer and yet take nothing."""
        self._refused_at = None if is_stored else time.monotonic()

    @property
    def is_away(self) -> bool:
        """True while spans could not be stored."""
        now, asked, refused = time.monotonic(), self._asked_at, self._refused_at
        is_silent = asked is not None and now - asked > SILENCE_S
        is_refusing = refused is not None and now - refused < REFUSAL_S
        return self._has_failed or is_silent or is_refusing
