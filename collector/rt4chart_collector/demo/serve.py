"""`rt4chart demo --serve`: a simulated bad release, the alert on it, and the console."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import RT4ChartError, StoreError
from rt4chart_collector.console.view.urls import alert_url, answer_url
from rt4chart_collector.core.alerts.alert import Rule
from rt4chart_collector.core.alerts.facts import DriftFacts
from rt4chart_collector.core.environment import demo_environ
from rt4chart_collector.demo.labels import read_labels
from rt4chart_collector.demo.load import PLANTED, ReleaseLoad, plan_load
from rt4chart_collector.demo.processes import (
    POLL_S,
    RT4CHART,
    STOPPED_S,
    free_port,
    run_application,
    run_json_command,
    service,
    wait_until_decided,
    wait_until_up,
)
from rt4chart_collector.demo.run import DATA, empty_database_folder, label_claims
from rt4chart_collector.store.alerts.alert_events import open_alerts
from rt4chart_collector.store.engine.connect import connect

CONSOLE_PORT = 8321
ALERT_DEADLINE_S = 120.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class ServedDemo:
    """The URLs of the console, of the alert and of its worst answer."""

    console: str
    alert: str
    answer: str
    title: str
    claim: str


def serve(
    folder: Path, *, bars: Progress, on_alert: Callable[[ServedDemo], None], console: str = ""
) -> None:
    """Fill a new database in `folder`, serve it, and call `on_alert` when the alert has fired.

    Returns when SIGINT or SIGTERM came and the service has stopped. `console` is HOST:PORT; the
    default is `CONSOLE_PORT` or a free port. Raises RT4ChartError with what to do.
    """
    dsn = f"chdb://{empty_database_folder(folder)}"
    _fill_database(dsn, folder, bars)
    address = console or f"127.0.0.1:{_console_port()}"
    watching = bars.add_task("waiting for the alert", total=1)
    with _running_service(dsn, address, folder / "service.log") as process:
        found = _wait_for_alert(dsn, f"http://{address}", process, folder / "service.log")
        bars.update(watching, completed=1)
        bars.stop()
        on_alert(found)
        _wait_for_signal(process)


def instructions(found: ServedDemo) -> str:
    """The next steps, for a terminal."""
    return (
        f"\nThe console is at {found.console}\n\n"
        f"  1. Alert:    click “{found.title}” under “Open alerts”,\n"
        f"               or open {found.alert}\n"
        "  2. Answer:   click the first of the worst answers,\n"
        f"               or open {found.answer}\n"
        "  3. Sentence: click the claim underlined in red; the passage that it contradicts\n"
        "               is beside it\n\n"
        "Press Ctrl-C to stop the service.\n"
    )


def as_json(found: ServedDemo) -> str:
    """The URLs as one line of JSON."""
    return json.dumps(asdict(found))


def _fill_database(dsn: str, folder: Path, bars: Progress) -> None:
    """Fill the database as users do: send OTLP, let the service verify, group by the command."""
    parts = plan_load(read_labels(DATA), now_s=time.time())
    total = sum(len(part.answers) for part in parts)
    asking = bars.add_task("application answers", total=total)
    verifying = bars.add_task("service verifies", total=total)
    with service(dsn, folder / "service.log") as endpoint:
        sent = 0
        for number, part in enumerate(parts):
            load = part.write(folder / f"load-{part.release}.jsonl")
            sent += _answer_load(endpoint, part, load, number, sent, bars, asking)
        wait_until_decided(endpoint, sent, lambda n, of: bars.update(verifying, completed=n))
    grouping = bars.add_task("grouping failures", total=1)
    run_json_command("cluster", "--dsn", dsn, "--json")
    label_claims(dsn)
    bars.update(grouping, completed=1)


def _answer_load(
    endpoint: str,
    part: ReleaseLoad,
    load: Path,
    number: int,
    before: int,
    bars: Progress,
    task: object,
) -> int:
    return run_application(
        endpoint,
        DATA,
        0,
        lambda n, of: bars.update(task, completed=before + n),  # type: ignore[arg-type]
        load=load,
        seed=100 + number,
        release=part.release,
    )


def _console_port() -> int:
    """`CONSOLE_PORT`, or a free port if it is in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", CONSOLE_PORT))
        except OSError:
            return free_port()
    return CONSOLE_PORT


@contextmanager
def _running_service(dsn: str, address: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The service with console and monitor, in its own session: Ctrl-C must not reach it."""
    endpoint = f"127.0.0.1:{free_port()}"
    command = [*RT4CHART, "up", "--dsn", dsn, "--otlp-http", endpoint]
    command += ["--otlp-grpc", "127.0.0.1:0", "--health", "off", "--console", address]
    command += ["--monitor", "15"]
    environ = demo_environ()
    with (
        log.open("ab") as out,
        subprocess.Popen(  # noqa: S603 ours
            command, stdout=out, stderr=out, env=environ, start_new_session=True
        ) as process,
    ):
        try:
            wait_until_up(f"http://{endpoint}", process, log)
            yield process
        finally:
            process.kill()


def _wait_for_alert(
    dsn: str, console: str, process: subprocess.Popen[bytes], log: Path
) -> ServedDemo:
    """Return when the alert has fired; RT4ChartError if it does not in time."""
    deadline = Deadline(ALERT_DEADLINE_S)
    while not deadline.is_over:
        if process.poll() is not None:
            raise RT4ChartError(f"the service stopped with {process.returncode}; see {log}")
        found = _find_alert(dsn, console)
        if found is not None:
            return found
        time.sleep(5 * POLL_S)
    raise RT4ChartError(f"the alert did not fire within {ALERT_DEADLINE_S:g} s; see {log}")


def _find_alert(dsn: str, console: str) -> ServedDemo | None:
    try:
        with connect(dsn, creates=False) as client:
            states = open_alerts(client, now_ns=time.time_ns())
    except StoreError:
        return None
    for state in states:
        alert = state.alert
        if (alert.rule, alert.route) == (Rule.ROUTE_DRIFT, PLANTED):
            if not isinstance(alert.facts, DriftFacts) or not alert.facts.worst_answers:
                continue
            worst = alert.facts.worst_answers[0]
            answer = answer_url(worst.trace_id, worst.span_id, worst.claim_index)
            return ServedDemo(
                console=f"{console}/",
                alert=f"{console}{alert_url(alert.id)}",
                answer=f"{console}{answer}",
                title=alert.title,
                claim=worst.claim,
            )
    return None


def _wait_for_signal(process: subprocess.Popen[bytes]) -> None:
    """Wait for a signal or the end of the service, then stop the service."""
    reading, writing = os.pipe()
    before = {
        number: signal.signal(number, lambda *_: os.write(writing, b"x")) for number in SIGNALS
    }
    os.set_blocking(reading, False)
    try:
        while process.poll() is None:
            time.sleep(POLL_S)
            try:
                if os.read(reading, 1):
                    break
            except BlockingIOError:
                continue
        process.send_signal(signal.SIGTERM)
        sys.stderr.write("stopping\n")
        process.wait(STOPPED_S)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
