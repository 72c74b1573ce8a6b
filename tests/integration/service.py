"""`rt4chart up` as a real process, for the tests that need one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.polling import wait_until

ANY = "127.0.0.1:0"
ANY_PORTS = ("--otlp-http", ANY, "--otlp-grpc", ANY, "--console", ANY, "--health", ANY)
PATIENCE_S = 60
PROTOBUF = {"content-type": "application/x-protobuf"}
READ = """
import json, sys
from rt4chart_collector.store.engine.connect import connect
with connect(sys.argv[1]) as client:
    print(json.dumps([client.query(sql).result_rows for sql in json.loads(sys.argv[2])]))
"""


class Service:
    """A running service and its HTTP interface."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.greeting = process.stdout.readline()
        found = re.search(r"OTLP at (https?://\S+)/v1/traces", self.greeting)
        assert found, self.greeting
        self.url = found[1]
        # One client: making one loads the certificates, 20 ms of CPU each time.
        self._http = httpx.Client(timeout=PATIENCE_S)

    def close(self) -> None:
        """Kill the process if it still runs."""
        self._http.close()
        self.process.kill()

    def get(self, path: str) -> httpx.Response:
        """The answer of the service to a GET."""
        return self._http.get(f"{self.url}{path}")

    def send(self, body: bytes) -> int:
        """POST a request; the status, 0 where the service did not answer."""
        try:
            answer = self._http.post(f"{self.url}/v1/traces", content=body, headers=PROTOBUF)
        except httpx.TransportError:
            return 0
        return answer.status_code

    def status(self) -> dict[str, Any]:
        """The body of /status."""
        found: dict[str, Any] = self.get("/status").json()
        return found

    def wait_until(self, is_true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Poll the status until the condition holds."""
        return wait_until(self.status, is_true, within_s=PATIENCE_S)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


def command(*flags: str) -> list[str]:
    """The command line of `rt4chart up`."""
    return [sys.executable, "-m", "otel_rt4chart", "up", *flags]


@contextmanager
def service(
    dsn: str, *flags: str, environ: Mapping[str, str] | None = None, stderr: int | None = None
) -> Iterator[Service]:
    """Start the service on free ports; it is killed at the end if it still runs.

    `stderr` is a descriptor for its log; the test's own without it.
    """
    # Grouping starts processes of its own: a test that needs them turns it on by a flag.
    given = ("--dsn", dsn, *ANY_PORTS, "--grouping", "off", *flags)
    kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    with subprocess.Popen(
        command(*given),
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env={**kept, **(environ or {})},
    ) as process:
        try:
            with closing(Service(process)) as running:
                yield running
        finally:
            process.kill()


def read(folder: Path, *statements: str) -> list[list[list[Any]]]:
    """The rows of each statement, from another process: the engine takes one path a process."""
    done = subprocess.run(
        [sys.executable, "-c", READ, f"chdb://{folder}", json.dumps(statements)],
        capture_output=True,
        text=True,
        check=True,
    )
    rows: list[list[list[Any]]] = json.loads(done.stdout)
    return rows
