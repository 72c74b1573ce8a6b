"""`rt4chart cluster`: group the failures into issues, once or at an interval."""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from threading import Event

from otel_rt4chart.core.errors import RT4ChartError, StoreBusyError, StoreError
from otel_rt4chart.core.settings import load
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_clustering.core.settings import ClusteringSettings, check_settings
from rt4chart_clustering.description.describe import OnProgress
from rt4chart_clustering.description.embedding import build_embedder
from rt4chart_clustering.description.enrichers import build_enrichers
from rt4chart_clustering.explain.explain_issues import explain_due_issues
from rt4chart_clustering.grouping.cluster_lock import cluster_lock
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import GroupingResult, group_failures
from rt4chart_collector.core.grouping_settings import RunCause
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.issues.grouping_runs import GroupingRun, insert_run
from rt4chart_collector.store.schema.migrate import migrate

SECOND = 1_000_000_000
STOPPED_STATUS = 128 + signal.SIGTERM
REFRESH_S = 0.2

log = logging.getLogger(__name__)


class StoppedError(Exception):
    """A SIGTERM ended the run between two pages."""


def execute(options: argparse.Namespace) -> int:
    """Run once, or until stopped; a wrong setting raises SettingsError first."""
    check_settings()
    return run_repeatedly(options) if options.every else run_once(options)


def run_once(options: argparse.Namespace) -> int:
    """Run and print the result; a SIGTERM ends the run after the current page."""
    stop = Event()
    with on_sigterm(stop.set), progress() as show:
        try:
            outcome = run_grouping(options, stop, show)
        except StoppedError:
            sys.stderr.write("stopped; the next run continues here\n")
            return STOPPED_STATUS
        except StoreBusyError:
            if options.cause == RunCause.COMMAND:
                raise
            return os.EX_TEMPFAIL
    sys.stdout.write(json.dumps(asdict(outcome)) + "\n" if options.json else format_result(outcome))
    sys.stdout.flush()
    return 0


def run_grouping(options: argparse.Namespace, stop: Event, show: OnProgress) -> GroupingResult:
    """One run, under the lock of the database."""
    settings = load(ClusteringSettings, {"dsn": options.dsn})
    embedder = build_embedder(settings.embedder)
    with (
        build_enrichers() as enrichers,
        open_database(settings.dsn, needs="rt4chart_issues") as client,
    ):
        migrate(client, embedding_width=embedder.width)
        if options.cause != RunCause.COMMAND:
            client.set_settings({"max_threads": "1"})
        with cluster_lock(client) as renew, _recorded(client, options.cause) as record:

            def on_progress(what: str, count: int) -> None:
                if stop.is_set():
                    raise StoppedError
                renew()
                show(what, count)

            now_ns = time.time_ns()
            result = group_failures(
                client,
                embedder,
                HdbscanGrouping(max(options.min_size, 2)),
                since_ns=now_ns - options.since * SECOND,
                now_ns=now_ns,
                on_progress=on_progress,
                enrichers=enrichers,
            )
            record(result)
        # Without the lock: a model may take minutes, and explaining disturbs no other run.
        if settings.explain == "llm":
            _explain(client, settings, stop)
        return result


def _explain(client: Client, settings: ClusteringSettings, stop: Event) -> None:
    """Explain the issues that need it; an endpoint that fails costs no run."""
    try:
        due = explain_due_issues(
            client, load(JudgeSettings), limit=settings.explain_issues, now_ns=time.time_ns()
        )
        for _ in due:
            if stop.is_set():
                raise StoppedError
    except RT4ChartError as error:
        log.error("issues were not explained: %s", error)


@contextmanager
def _recorded(client: Client, cause: RunCause) -> Iterator[Callable[[GroupingResult], None]]:
    """Write the run to the store when the block has ended, unless it was stopped.

    The block calls the yielded function with its result.
    """
    run = GroupingRun(time.time_ns(), 0, secrets.token_hex(8), cause)
    found: list[GroupingResult] = []
    try:
        yield found.append
    except StoppedError:
        raise
    except Exception as error:  # recorded, and raised again
        # The message of an error of ours is for people; another one may quote texts of users.
        is_ours = isinstance(error, RT4ChartError)
        told = str(error) if is_ours else redacted_error(error)
        with suppress(StoreError):
            insert_run(client, replace(run, ended_ns=time.time_ns(), error=told))
        raise
    for result in found:
        insert_run(client, _run_of(run, result, ended_ns=time.time_ns()))


def _run_of(run: GroupingRun, result: GroupingResult, *, ended_ns: int) -> GroupingRun:
    return replace(
        run,
        ended_ns=ended_ns,
        failures=result.failures,
        grouped=result.grouped,
        waiting=result.waiting,
        unexplained=result.unexplained,
        created=result.new,
        grown=result.known,
        regressed=result.regressed,
        proposed=result.proposed,
    )


def run_repeatedly(options: argparse.Namespace) -> int:
    """Run at an interval, each time in a process of its own.

    The process returns its memory and closes the embedded database, so that another process can
    open it in between. A crash ends one run only.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    stop = Event()
    rounds = multiprocessing.get_context("spawn")
    with on_sigterm(stop.set):
        while not stop.is_set():
            started = time.monotonic()
            process = rounds.Process(target=_round, args=(options,), name="cluster")
            process.start()
            while process.is_alive():
                process.join(0.2)
                if stop.is_set() and process.is_alive():
                    process.terminate()
                    process.join()
            if process.exitcode and not stop.is_set():
                log.error(
                    "a run failed with exit status %s; the next one starts at its time",
                    process.exitcode,
                )
            stop.wait(max(options.every - (time.monotonic() - started), 0))
    return 0


def _round(options: argparse.Namespace) -> None:
    try:
        status = run_once(options)
    except RT4ChartError as error:
        log.error("%s", error)
        status = 2
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    sys.exit(status)


@contextmanager
def on_sigterm(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM calls `stop` while the block runs. Only the main thread may use it."""
    before = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def progress() -> Iterator[OnProgress]:
    """A progress line on a terminal's standard error, removed at the end."""
    if not sys.stderr.isatty():
        yield lambda what, count: None
        return
    shown = 0.0

    def show(what: str, count: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= REFRESH_S:
            shown = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{count} failures {what}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")


def format_result(outcome: GroupingResult) -> str:
    """The result as text."""
    one = outcome
    if not one.failures + one.grouped + one.waiting:
        return "No new failures in that time. Is `rt4chart up` receiving spans?\n"
    issues = one.new + one.known
    regressed = f"; {one.regressed} regressed" if one.regressed else ""
    proposed = f"; {one.proposed} merges or splits proposed" if one.proposed else ""
    return (
        f"{one.failures} new failure{'s' * (one.failures != 1)}; {one.grouped} assigned to "
        f"{issues} issue{'s' * (issues != 1)} ({one.new} new), {one.waiting} in no issue yet; "
        f"{one.unexplained} not explained by rules{regressed}{proposed}. "
        "List them: rt4chart issues\n"
    )
