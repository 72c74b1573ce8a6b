"""Groups failures into issues while the service runs: when, and in which process.

Each run is an `rt4chart cluster` of its own at low priority, which reaches an embedded database
through the local API. It returns its memory when it ends, and a crash ends that run only.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event
from typing import IO, Any

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.findings.failure_kinds import MISLEADING
from rt4chart_collector.core.environment import grouping_environ
from rt4chart_collector.core.grouping_settings import GroupingSettings, RunCause
from rt4chart_collector.core.instruments import (
    CLAIM_STATUSES,
    CLAIMS,
    GROUPING_DURATION,
    GROUPING_LAST_RUN,
    GROUPING_RUNS,
    GROUPING_WAITING,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.service.stages import Shutdown, stage

COMMAND = (sys.executable, "-m", "otel_rt4chart", "cluster", "--json", "--cause")
# A service that restarts all the time must not group all the time.
FIRST_RUN_S, SHORTEST_PAUSE_S = 60.0, 30.0
# The pause after a run is nine times as long as the run: a tenth of the time is for grouping. It is
# at most the interval, because a run beside much other work takes long.
PAUSE_FACTOR = 9.0
# A first run over a million failures takes 16 minutes of an idle core.
RUN_LIMIT_S = 2 * 3600.0
POLL_S, PROCESS_POLL_S, STOP_S = 5.0, 0.2, 5.0
NICENESS = 10
# Linux ends the process with the highest score first where memory runs out, and the service last.
OOM_SCORE = 500
COMPLETED, FAILED, BUSY = "completed", "failed", "busy"
MAX_OUTPUT = 64 * 1024
MISLEADING_STATUSES = {status for status, _ in MISLEADING.values()}
UNFAITHFUL = (Label.CONTRADICTED, Label.BASELESS)

log = logging.getLogger(__name__)


class GroupingSchedule:
    """When the next run is due: at its interval, or when enough new failures came."""

    def __init__(self, settings: GroupingSettings, *, now_s: float) -> None:
        """The first run is due a minute after the start, for what came while nothing ran."""
        self._settings = settings
        self._earliest_s = now_s + SHORTEST_PAUSE_S
        self._at_s = now_s + min(FIRST_RUN_S, settings.grouping)
        self._seen = 0

    def due(self, now_s: float, failures: int) -> RunCause | None:
        """Why a run is due now; None if it is not. `failures` have come since the start."""
        if now_s < self._earliest_s:
            return None
        if now_s >= self._at_s:
            return RunCause.INTERVAL
        is_enough = 0 < self._settings.grouping_failures <= failures - self._seen
        return RunCause.FAILURES if is_enough else None

    def note_run(self, started_s: float, ended_s: float, failures: int) -> None:
        """Learn of a run, with the failures that had come when it started."""
        pause_s = max(PAUSE_FACTOR * (ended_s - started_s), SHORTEST_PAUSE_S)
        self._earliest_s = ended_s + min(pause_s, self._settings.grouping)
        self._at_s = max(started_s + self._settings.grouping, self._earliest_s)
        self._seen = failures


class GroupingRunner:
    """Starts the runs in the thread of `run`; any thread may read its `status`.

    A failed run is logged once and counted, and the next one starts at its time.
    """

    def __init__(
        self,
        dsn: str,
        settings: GroupingSettings,
        metrics: ServiceMetrics,
        *,
        is_stopping: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_stopping` ends a run as soon as it is true, `stop` the thread too."""
        self._dsn = dsn
        self._settings = settings
        self._metrics = metrics
        self._is_stopping = is_stopping
        self._clock = clock
        self._stopping = Event()
        self._schedule = GroupingSchedule(settings, now_s=clock())
        self._is_running = False
        self._problem = ""

    def run(self) -> None:
        """Run whenever a run is due, until stopped."""
        while not self._stopping.wait(POLL_S):
            failures = failures_seen(self._metrics)
            cause = self._schedule.due(self._clock(), failures)
            if cause is not None and not self._is_stopping():
                started_s = self._clock()
                self._is_running = True
                try:
                    self._run_once(cause)
                finally:
                    self._is_running = False
                self._schedule.note_run(started_s, self._clock(), failures)

    def stop(self) -> None:
        """Let `run` end; a run that is going on is ended after its page, or killed."""
        self._stopping.set()

    def status(self) -> Mapping[str, object]:
        """The runs since the start, for /status."""
        counts = self._metrics.counts(GROUPING_RUNS)
        return {
            "running": self._is_running,
            **{result: counts.get((result,), 0) for result in (COMPLETED, FAILED, BUSY)},
        }

    def _run_once(self, cause: RunCause) -> None:
        begin = self._clock()
        try:
            with TemporaryFile() as out, TemporaryFile() as errors:
                with grouping_process(self._dsn, cause, out, errors) as process:
                    is_over = self._wait(process)
                status, result, told = process.returncode, _result(out), _message(errors)
        except OSError as error:
            self._note_failure(f"its process could not run: {error.strerror}")
            return
        if self._stopping.is_set() or self._is_stopping():
            return
        if status == os.EX_TEMPFAIL:
            self._metrics.add(GROUPING_RUNS, BUSY)
        elif not is_over:
            self._note_failure(f"it took more than {RUN_LIMIT_S:g} s")
        elif status or result is None:
            self._note_failure(told or f"exit status {status}")
        else:
            self._problem = ""
            self._metrics.add(GROUPING_RUNS, COMPLETED)
            self._metrics.record(GROUPING_DURATION, self._clock() - begin)
            waiting, ended_s = int(result.get("waiting", 0)), time.time()
            self._metrics.observe(GROUPING_WAITING, lambda: waiting)
            self._metrics.observe(GROUPING_LAST_RUN, lambda: ended_s)

    def _wait(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for the end of the run, the shutdown or the time limit; False for the last."""
        limit = Deadline(RUN_LIMIT_S)
        while process.poll() is None and not limit.is_over:
            if self._is_stopping() or self._stopping.wait(PROCESS_POLL_S):
                return True
        return not limit.is_over

    def _note_failure(self, problem: str) -> None:
        self._metrics.add(GROUPING_RUNS, FAILED)
        if problem != self._problem:
            self._problem = problem
            log.error(
                "failures were not grouped into issues, the next run tries again: %s", problem
            )


def failures_seen(metrics: ServiceMetrics) -> int:
    """The unfaithful and the misleading claims that this process has verified."""
    labels, statuses = metrics.counts(CLAIMS), metrics.counts(CLAIM_STATUSES)
    unfaithful = sum(labels.get((str(label),), 0) for label in UNFAITHFUL)
    return unfaithful + sum(statuses.get((str(one),), 0) for one in MISLEADING_STATUSES)


@contextmanager
def grouping_process(
    dsn: str, cause: RunCause, out: IO[bytes], errors: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """A run as a process at low priority; at the end of the block it is ended if it still runs."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, cause],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=errors,
        env=grouping_environ(dsn),
    )
    try:
        _lower_priority(process.pid)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _lower_priority(pid: int) -> None:
    """Let the service go first, for the processor and, on Linux, for memory."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, NICENESS)
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(OOM_SCORE))


def _result(out: IO[bytes]) -> Mapping[str, Any] | None:
    """The JSON that a completed run prints."""
    out.seek(0)
    try:
        found = json.loads(out.read(MAX_OUTPUT))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _message(errors: IO[bytes]) -> str:
    """The error that the command printed for people; of a crash nothing: it may quote texts."""
    errors.seek(0)
    lines = errors.read(MAX_OUTPUT).decode(errors="replace").splitlines()
    return next((line for line in reversed(lines) if line.startswith("rt4chart cluster: ")), "")


def build_grouping(
    dsn: str, settings: GroupingSettings | None, metrics: ServiceMetrics, shutdown: Shutdown
) -> GroupingRunner | None:
    """What groups the failures; None if it is off."""
    if settings is None or not settings.is_on:
        return None
    stopping = shutdown.health
    return GroupingRunner(dsn, settings, metrics, is_stopping=lambda: stopping.is_stopping)


@contextmanager
def grouping_running(grouping: GroupingRunner | None, shutdown: Shutdown) -> Iterator[None]:
    """Group at its times while the block runs."""
    if grouping is None:
        yield
        return
    with stage("grouping", grouping.run, stop=grouping.stop, shutdown=shutdown):
        yield
