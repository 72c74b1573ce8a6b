"""A real OpenTelemetry Collector: built with its own builder, run with the files of deploy/."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.integration.needs import IS_ASKED, IS_WHOLE
from tests.integration.service import PATIENCE_S

DEPLOY = Path(__file__).parents[2] / "collector/deploy/otelcol"
RECIPE = DEPLOY / "builder.yaml"
AGENT, GATEWAY = DEPLOY / "agent.yaml", DEPLOY / "gateway.yaml"
CACHE = Path.home() / ".cache/rt4chart-tests"
GO = shutil.which("go") or "/usr/local/go/bin/go"
BUILDER = "go.opentelemetry.io/collector/cmd/builder"
TOKEN = "s3cret-of-the-agents"  # noqa: S105 - of these tests
# The variables that gateway.yaml cannot do without.
GATEWAY_ENVIRON = {
    "RT4CHART_INGEST_TOKEN": TOKEN,
    "CLICKHOUSE_ENDPOINT": "tcp://127.0.0.1:9",
    "CLICKHOUSE_USER": "rt4chart",
    "CLICKHOUSE_PASSWORD": "of-a-test",
    "KAFKA_BROKERS": "127.0.0.1:9,127.0.0.1:10",
}


def needed() -> None:
    """Skip, and say why, where these tests were not asked for or Go is missing."""
    if not (IS_WHOLE or (IS_ASKED and built().exists())):
        pytest.skip("needs a Collector, which is built once, in minutes: make test-integration")
    if not Path(GO).exists():
        pytest.skip("go is needed to build the Collector: https://go.dev/dl")


def version() -> str:
    """The release of the Collector that the recipe pins."""
    found = re.search(r"^  version: (\S+)$", RECIPE.read_text(), re.MULTILINE)
    assert found
    return found[1]


def folder() -> Path:
    """Where this recipe's Collector is built."""
    return CACHE / f"otelcol-{hashlib.sha256(RECIPE.read_bytes()).hexdigest()[:12]}"


def built() -> Path:
    """The Collector's program, once it is built."""
    return folder() / "build/otelcol-rt4chart"


def binary() -> Path:
    """The Collector of the recipe, built once a recipe; takes minutes, and the Go module proxy."""
    needed()
    if not built().exists():
        folder().mkdir(parents=True, exist_ok=True)
        tools = {**os.environ, "PATH": f"{Path(GO).parent}:{os.environ['PATH']}"}
        wanted = f"{BUILDER}@v{version()}"
        subprocess.run([GO, "install", wanted], env={**tools, "GOBIN": str(folder())}, check=True)
        recipe = ["--config", str(RECIPE)]
        subprocess.run([str(folder() / "builder"), *recipe], cwd=folder(), env=tools, check=True)
    return built()


def source(module: str, path: str) -> str:
    """A file of a Go module, as it is compiled into the Collector."""
    done = subprocess.run(
        [GO, "list", "-m", "-f", "{{.Dir}}", module],
        cwd=binary().parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return (Path(done.stdout.strip()) / path).read_text()


def free_ports(number: int) -> list[int]:
    """Ports on loopback that nobody listens on."""
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports: list[int] = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a Collector listens; the same after a restart."""

    grpc: int
    http: int
    health: int
    metrics: int

    def environ(self) -> dict[str, str]:
        """The variables of the configuration files."""
        return {
            "OTELCOL_GRPC_PORT": str(self.grpc),
            "OTELCOL_HTTP_PORT": str(self.http),
            "OTELCOL_HEALTH_PORT": str(self.health),
            "OTELCOL_METRICS_PORT": str(self.metrics),
        }


def some_ports() -> Ports:
    """Free ones."""
    return Ports(*free_ports(4))


@contextmanager
def collector(
    ports: Ports, environ: Mapping[str, str], *configs: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Collector until it is healthy; stopped politely at the end if it still runs."""
    command = [str(binary()), *(f"--config={one}" for one in configs)]
    given = {"PATH": os.environ["PATH"], **environ, **ports.environ()}
    with subprocess.Popen(command, env=given) as process:
        try:
            _wait(process, ports.health)
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE_S)
            finally:
                process.kill()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        assert process.poll() is None, "the Collector ended; it says why above"
        try:
            if httpx.get(f"http://127.0.0.1:{port}").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the Collector is not healthy")
