"""The readiness of the service to accept spans, and the reasons why it is not ready."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.engine.connect import Client

STARTING, STOPPING, STORE_UNREACHABLE = "starting", "stopping", "store_unreachable"
QUEUE_FULL = "queue_full"
WRITER, ASSEMBLER, WORKERS = "writer", "assembler", "workers"
# The order in which /readyz reports them.
REASONS = (
    STOPPING,
    STARTING,
    *(f"{part}_dead" for part in (WRITER, ASSEMBLER, WORKERS)),
    STORE_UNREACHABLE,
    QUEUE_FULL,
)
PROBE_INTERVAL_S = 2.0
# The store is unreachable if a probe takes longer than the first, or an insert longer than the
# second, or if an insert failed within the third.
PROBE_TIMEOUT_S, INSERT_TIMEOUT_S, INSERT_FAILURE_S = 5.0, 30.0, 10.0


class Health:
    """Collects the reasons why the service is not ready; any thread may report and read."""

    def __init__(self, *, is_starting: bool = False) -> None:
        """Ready; with `is_starting`, not before `start`."""
        self._lock = threading.Lock()
        self._reasons: set[str] = {STARTING} if is_starting else set()
        self._settled = threading.Event()
        if not is_starting:
            self._settled.set()
        self._checks: dict[str, Callable[[], bool]] = {}
        self._damage: Callable[[], Collection[str]] = tuple

    def add_check(self, reason: str, applies: Callable[[], bool]) -> None:
        """Call `applies` at every reading; True means that `reason`, one of `REASONS`, holds."""
        with self._lock:
            self._checks[reason] = applies

    def watch_damage(self, tables: Callable[[], Collection[str]]) -> None:
        """Call `tables` at every reading for the names of tables with damaged parts."""
        self._damage = tables

    @property
    def damaged(self) -> tuple[str, ...]:
        """The tables with damaged parts; spans can be stored all the same."""
        return tuple(sorted(self._damage()))

    def report_death(self, part: str) -> None:
        """Record that a thread of this part ended unexpectedly; it is not restarted."""
        with self._lock:
            self._reasons.add(f"{part.replace(' ', '_')}_dead")

    def start(self) -> None:
        """Record that every listener listens that the settings ask for."""
        with self._lock:
            self._reasons.discard(STARTING)
        self._settled.set()

    def stop(self) -> None:
        """Record that shutdown has begun: nothing is accepted any more."""
        with self._lock:
            self._reasons.add(STOPPING)
        self._settled.set()

    def wait_until_started(self) -> None:
        """Return when every listener listens, or shutdown has begun."""
        self._settled.wait()

    @property
    def is_stopping(self) -> bool:
        """True once shutdown has begun."""
        with self._lock:
            return STOPPING in self._reasons

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons that hold now, in the order of `REASONS`; empty if the service is ready."""
        with self._lock:
            checks, found = dict(self._checks), set(self._reasons)
        # Without the lock: a check takes locks of its own.
        found |= {reason for reason, applies in checks.items() if applies()}
        return tuple(sorted(found, key=lambda reason: (*REASONS, reason).index(reason)))


class StoreWatch:
    """Probes the store every two seconds over its own connection; `run` is the thread's function.

    A store that hangs counts as unreachable, although no request has failed yet.
    """

    def __init__(self, client: Client) -> None:
        """Reachable until the first probe."""
        self._client = client
        self._stopping = threading.Event()
        self._has_failed = False
        self._probed_at: float | None = None
        self._insert_failed_at: float | None = None
        self._insert_began_at: float | None = None

    def run(self) -> None:
        """Probe until stopped."""
        while not self._stopping.wait(PROBE_INTERVAL_S):
            self.probe()

    def stop(self) -> None:
        """Let `run` end."""
        self._stopping.set()

    def probe(self) -> None:
        """Send one statement, and record its result."""
        self._probed_at = time.monotonic()
        try:
            self._client.command("SELECT 1")
        except StoreError:
            self._has_failed = True
        else:
            self._has_failed = False
        self._probed_at = None

    @contextmanager
    def inserting(self) -> Iterator[None]:
        """Learn from the insert in the block: a store that answers probes may refuse it, or hang.

        A failure counts at once: the next probe may be two seconds away.
        """
        self._insert_began_at = time.monotonic()
        try:
            yield
        except StoreError:
            self._insert_failed_at = time.monotonic()
            raise
        else:
            self._insert_failed_at = None
        finally:
            self._insert_began_at = None

    @property
    def is_unreachable(self) -> bool:
        """True while spans could not be stored."""
        now, probed, failed = time.monotonic(), self._probed_at, self._insert_failed_at
        began = self._insert_began_at
        is_hanging = probed is not None and now - probed > PROBE_TIMEOUT_S
        is_hanging |= began is not None and now - began > INSERT_TIMEOUT_S
        is_refusing = failed is not None and now - failed < INSERT_FAILURE_S
        return self._has_failed or is_hanging or is_refusing
