"""`rt4chart cluster`: group the failures into issues, once or again and again."""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from threading import Event

from otel_rt4chart.cli import Command
from otel_rt4chart.core.durations import parse_duration_s
from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.settings import load
from rt4chart_clustering.core.settings import ClusteringSettings, check_settings
from rt4chart_clustering.description.described import Between
from rt4chart_clustering.description.embedding import build_embedder
from rt4chart_clustering.description.enrichers import build_enrichers
from rt4chart_clustering.grouping.lock import locked
from rt4chart_clustering.grouping.run import Outcome, run
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate

SECOND = 1_000_000_000
STOPPED = 128 + signal.SIGTERM
SHOWN_S = 0.2

log = logging.getLogger(__name__)


class StoppedError(Exception):
    """Broken off between two pages, as was asked for."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    parser.add_argument(
        "--since",
        type=parse_duration_s,
        default="7d",
        metavar="TIME",
        help="such as 90m, 24h, 7d (default)",
    )
    parser.add_argument(
        "--min-size", type=int, default=5, metavar="N", help="claims that make an issue (default 5)"
    )
    parser.add_argument(
        "--every", type=parse_duration_s, metavar="TIME", help="again and again, such as every 15m"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome for machines")


def execute(options: argparse.Namespace) -> int:
    """Run once, or until somebody stops it; SettingsError before that."""
    check_settings()
    return repeated(options) if options.every else once(options)


def once(options: argparse.Namespace) -> int:
    """Run, and say what was found; a SIGTERM ends it after the page at hand."""
    stop = Event()
    with heeding(stop.set), progress() as show:
        try:
            outcome = grouped(options, stop, show)
        except StoppedError:
            sys.stderr.write("stopped; the next run goes on from here\n")
            return STOPPED
    sys.stdout.write(json.dumps(asdict(outcome)) + "\n" if options.json else told(outcome))
    sys.stdout.flush()
    return 0


def grouped(options: argparse.Namespace, stop: Event, show: Between) -> Outcome:
    """One run over the database, alone."""
    settings = load(ClusteringSettings, {"dsn": options.dsn})
    embedder = build_embedder(settings.embedder)
    with build_enrichers() as enrichers, connect(settings.dsn) as client:
        migrate(client, embedding_width=embedder.width)
        with locked(client) as prolong:

            def between(what: str, count: int) -> None:
                if stop.is_set():
                    raise StoppedError
                prolong()
                show(what, count)

            now_ns = time.time_ns()
            return run(
                client,
                embedder,
                since_ns=now_ns - options.since * SECOND,
                now_ns=now_ns,
                min_size=max(options.min_size, 2),
                between=between,
                enrichers=enrichers,
            )


def repeated(options: argparse.Namespace) -> int:
    """A process a round: what it opened and took is given back, and what it broke is its own.

    So another may own an embedded database in between, and is visited as a guest from then on.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    stop = Event()
    rounds = multiprocessing.get_context("spawn")
    with heeding(stop.set):
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
                log.error("a round failed with status %s; the next goes on", process.exitcode)
            stop.wait(max(options.every - (time.monotonic() - started), 0))
    return 0


def _round(options: argparse.Namespace) -> None:
    try:
        status = once(options)
    except RT4ChartError as error:
        log.error("%s", error)
        status = 2
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    sys.exit(status)


@contextmanager
def heeding(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM calls `stop` while the block runs; for the main thread."""
    before = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def progress() -> Iterator[Between]:
    """One rewritten line on standard error, wiped at the end; nothing where it is no terminal."""
    if not sys.stderr.isatty():
        yield lambda what, count: None
        return
    shown = 0.0

    def show(what: str, count: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= SHOWN_S:
            shown = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{count} failures {what}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")


def told(outcome: Outcome) -> str:
    """The outcome in words."""
    one = outcome
    if not one.failures + one.grouped + one.waiting:
        return "No new failure in that time: nothing to group. Is `rt4chart up` receiving spans?\n"
    issues = one.new + one.known
    come_back = f"; {one.regressed} resolved before came back" if one.regressed else ""
    proposed = f"; {one.proposed} merges or splits proposed" if one.proposed else ""
    return (
        f"{one.failures} new failure{'s' * (one.failures != 1)}: {one.grouped} put in {issues} "
        f"issue{'s' * (issues != 1)} ({one.new} new), {one.waiting} in none yet; {one.unexplained} "
        f"have a pattern that the rules do not explain{come_back}{proposed}. See them: "
        "rt4chart issues\n"
    )


COMMAND = Command("cluster", "group the failures into named issues", configure, execute)
