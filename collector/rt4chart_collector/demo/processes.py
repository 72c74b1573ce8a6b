"""The processes of the demo: service, application and commands, run as a user would run them."""

from __future__ import annotations

import io
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from otel_rt4chart.cli import main
from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import RT4ChartError
from rt4chart_collector.core.environment import demo_environ

RT4CHART = (sys.executable, "-m", "otel_rt4chart")
# A wheel has the application beside this file; a checkout has it among the examples.
APPLICATIONS = (
    Path(__file__).parent / "rag_app.py",
    Path(__file__).parents[3] / "examples/rag_app/app.py",
)
STARTED_S, STALLED_S, STOPPED_S, POLL_S = 60, 60, 60, 0.2

Progress = Callable[[int, int], None]


@contextmanager
def service(dsn: str, log: Path) -> Iterator[str]:
    """Run `rt4chart up` on a free port; yields its URL, then stops it and waits for it."""
    endpoint = f"http://127.0.0.1:{free_port()}"
    command = [*RT4CHART, "up", "--dsn", dsn, "--otlp-http", endpoint.removeprefix("http://")]
    command += ["--otlp-grpc", "127.0.0.1:0", "--health", "off"]
    command += ["--console", "off", "--monitor", "off", "--grouping", "off"]
    with (
        log.open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=out, env=demo_environ()) as process,  # noqa: S603 ours
    ):
        try:
            wait_until_up(endpoint, process, log)
            yield endpoint
            process.send_signal(signal.SIGTERM)
            if process.wait(STOPPED_S):
                raise RT4ChartError(f"the service stopped with {process.returncode}; see {log}")
        finally:
            process.kill()


def free_port() -> int:
    """A port of the loopback interface on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_up(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the service answers; RT4ChartError with its log if it does not start."""
    for _ in range(int(STARTED_S / POLL_S)):
        if process.poll() is not None:
            raise RT4ChartError(f"the service did not start: {log.read_text(errors='replace')}")
        try:
            status(endpoint)
        except urllib.error.URLError:
            time.sleep(POLL_S)
        else:
            return
    raise RT4ChartError(f"the service did not answer within {STARTED_S} s; see {log}")


def status(endpoint: str) -> dict[str, Any]:
    """The counters of the service."""
    with urllib.request.urlopen(f"{endpoint}/status", timeout=10) as reply:  # noqa: S310 loopback
        counters: dict[str, Any] = json.load(reply)
        return counters


def run_application(endpoint: str, data: Path, limit: int, progress: Progress) -> int:
    """Run the example application over the answers, and return how many it answered."""
    path = next((path for path in APPLICATIONS if path.exists()), None)
    if path is None:
        raise RT4ChartError("the example application is missing: install the package again")
    command = [sys.executable, str(path), "--endpoint", endpoint, "--data", str(data)]
    command += ["--limit", str(limit)] if limit else []
    sent = 0
    with subprocess.Popen(  # noqa: S603 ours
        command, stdout=subprocess.PIPE, text=True, env=demo_environ()
    ) as process:
        for line in process.stdout or ():
            word, _, counts = line.strip().partition(" ")
            if word == "sent":
                sent, total = (int(number) for number in counts.split("/"))
                progress(sent, total)
    if process.returncode:
        raise RT4ChartError(f"the application stopped with status {process.returncode}")
    return sent


def wait_until_decided(endpoint: str, expected: int, progress: Progress) -> None:
    """Return when every answer has a decision; RT4ChartError after a minute without progress."""
    decided, deadline = 0, Deadline(STALLED_S)
    while decided < expected:
        if deadline.is_over:
            raise RT4ChartError(f"stalled: {decided} of {expected} answers: {status(endpoint)}")
        time.sleep(POLL_S)
        now = sum(status(endpoint)["decisions"].values())
        if now > decided:
            decided, deadline = now, Deadline(STALLED_S)
            progress(decided, expected)


def run_json_command(*arguments: str) -> Any:  # noqa: ANN401 whatever JSON the command prints
    """Run an rt4chart command in this process, and return the JSON that it prints."""
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        status = main(arguments)
    if status:
        raise RT4ChartError(f"rt4chart {arguments[0]} failed: {errors.getvalue().strip()}")
    return json.loads(out.getvalue())
