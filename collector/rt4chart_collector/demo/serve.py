"""`rt4chart demo --serve`: the console with the alert on the bad release."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import RT4ChartError
from rt4chart_collector.console.view.urls import alert_url, answer_url
from rt4chart_collector.core.environment import demo_environ
from rt4chart_collector.demo.application import (
    JUDGE,
    empty_database_folder,
    group_failures,
    judged_answers,
    load_helpdesk,
    load_public_rows,
)
from rt4chart_collector.demo.incident import Incident, find_incident, no_incident_error
from rt4chart_collector.demo.processes import (
    POLL_S,
    RT4CHART,
    STARTED_S,
    STOPPED_S,
    free_port,
    wait_until_up,
)
from rt4chart_collector.demo.progress import DemoProgress
from rt4chart_collector.store.engine.connect import Client, connect

CONSOLE_PORT = 8321
# A round of the monitor takes seconds.
WATCHED_S = 120.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class ServedDemo:
    """The URLs of the console, of the alert and of a wrong answer, and the incident in words."""

    console: str
    alert: str
    answer: str
    title: str
    claim: str
    incident: tuple[str, ...]


def serve(
    folder: Path,
    progress: DemoProgress,
    *,
    on_alert: Callable[[ServedDemo], None],
    console: str = "",
) -> None:
    """Serve a new database in `folder`, and call `on_alert` when the service found the incident.

    The console opens as soon as the help desk's answers are stored and grouped; the public rows are
    stored beside the running service. Returns when SIGINT or SIGTERM came and the service has
    stopped; before `on_alert` they raise KeyboardInterrupt. `console` is HOST:PORT; the default is
    `CONSOLE_PORT` or a free port. Raises RT4ChartError with what to do.
    """
    dsn = f"chdb://{empty_database_folder(folder)}"
    judged = judged_answers(progress)
    with connect(dsn) as client:
        load_helpdesk(client, judged, progress)
    group_failures(dsn, progress)
    address = console or f"127.0.0.1:{_console_port()}"
    starting = progress.step("starting the console")
    with _interrupts(), _running_service(dsn, address, folder / "service.log") as process:
        starting(1, 1)
        progress.note(f"The console is open at http://{address}/")
        with connect(dsn) as client:
            load_public_rows(client, judged, progress)
            incident = _wait_for_incident(client, process, progress)
        progress.stop()
        on_alert(_served(f"http://{address}", incident))
        _wait_for_signal(process)


def _wait_for_incident(
    client: Client, process: subprocess.Popen[bytes], progress: DemoProgress
) -> Incident:
    """The incident, when the first round of the service's monitor has found it."""
    watched = progress.step("watching the routes")
    deadline = Deadline(WATCHED_S)
    while not deadline.is_over and process.poll() is None:
        if (incident := find_incident(client)) is not None:
            watched(1, 1)
            return incident
        time.sleep(POLL_S)
    raise no_incident_error()


def _served(console: str, incident: Incident) -> ServedDemo:
    answer = answer_url(incident.trace_id, incident.span_id, incident.claim_index)
    return ServedDemo(
        console=f"{console}/",
        alert=f"{console}{alert_url(incident.alert_id)}",
        answer=f"{console}{answer}",
        title=incident.title,
        claim=incident.claim,
        incident=incident.lines(),
    )


def instructions(found: ServedDemo) -> str:
    """The incident and the next steps, for a terminal."""
    lines = "".join(f"{line}\n" for line in found.incident)
    return (
        f"\n{lines}\nThe console is at {found.console}\n\n"
        f"  1. Alert:    click “{found.title}” under “Open alerts”,\n"
        f"               or open {found.alert}\n"
        "  2. Answer:   click one of the worst answers,\n"
        f"               or open {found.answer}\n"
        "  3. Sentence: click the claim underlined in red; the passage that it contradicts\n"
        "               is beside it\n\n"
        "Press Ctrl-C to stop the service.\n"
    )


def as_json(found: ServedDemo) -> str:
    """The URLs as one line of JSON."""
    return json.dumps(asdict(found))


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
    environ = demo_environ() | {"RT4CHART_JUDGE": JUDGE}
    with (
        log.open("ab") as out,
        subprocess.Popen(  # noqa: S603 ours
            command, stdout=out, stderr=out, env=environ, start_new_session=True
        ) as process,
    ):
        try:
            wait_until_up(f"http://{endpoint}", process, log)
            _wait_until_open(address, process, log)
            yield process
        finally:
            process.kill()


def _wait_until_open(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the console listens, which it does later than the service."""
    host, _, port = address.rpartition(":")
    deadline = Deadline(STARTED_S)
    while not deadline.is_over and process.poll() is None:
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=POLL_S).close()
        except OSError:
            time.sleep(POLL_S)
        else:
            return
    raise RT4ChartError(f"the console did not open within {STARTED_S} s; see {log}")


@contextmanager
def _interrupts() -> Iterator[None]:
    """Signals raise KeyboardInterrupt while the block runs, so that the service ends too."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_for_signal(process: subprocess.Popen[bytes]) -> None:
    """Wait for a signal or the end of the service, then stop the service."""
    with suppress(KeyboardInterrupt):
        while process.poll() is None:
            time.sleep(POLL_S)
    process.send_signal(signal.SIGTERM)
    sys.stderr.write("stopping\n")
    process.wait(STOPPED_S)
