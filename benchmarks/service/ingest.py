"""Spans a second from OTLP over HTTP to disk, of `rt4chart up` and, beside it, of Arize Phoenix.

    python -m benchmarks.service.ingest [--phoenix VENV/bin/phoenix] [--requests 60] [--spans 510]

One client sends the same requests to each server in turn, round by round, and sends again what is
refused. A round ends when the database has every span: what an acknowledgement without an insert
is worth is not asked. CPU seconds are those of the server's process from the first request to that
moment; a rate a CPU second says the same on a busy machine. Verification is left out: the spans
hold no answer. Phoenix runs as it comes, with its SQLite: `pip install arize-phoenix` in an
environment of its own.
"""

from __future__ import annotations

import argparse
import http.client
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_rt4chart.core.deadline import Deadline
from rt4chart_collector.demo.processes import free_port, status

HEADERS = {"content-type": "application/x-protobuf"}
TEXT = "The free trial lasts 14 days and can be extended once by seven days for verified users. "
AGAIN = (429, 503)
PAUSE_S, STARTED_S, DRAINED_S = 0.05, 120, 300
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its process, where it takes OTLP, and how many spans its store has."""

    name: str
    pid: int
    address: str
    stored: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Round:
    """What one load took: wall and CPU seconds, each request's seconds, refusals, memory."""

    spans: int
    wall_s: float
    cpu_s: float
    request_s: Sequence[float]
    refused: int
    peak_mib: float


def main() -> None:
    """Measure each server in turn, several times, and print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--phoenix", help="the command, in an environment of its own")
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--spans", type=int, default=510)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    names = ["rt4chart", *(["phoenix"] if options.phoenix else [])]
    found: dict[str, list[Round]] = {name: [] for name in names}
    for number in range(options.rounds):
        for name in names:
            first = number * options.requests
            bodies = [
                request(at, options.spans) for at in range(first + 1, first + 1 + options.requests)
            ]
            with tempfile.TemporaryDirectory() as folder:
                run = ours if name == "rt4chart" else phoenix
                with run(Path(folder), options.phoenix) as server:
                    found[name].append(measured(server, bodies, options.clients, options.spans))
    size = len(request(1, options.spans)) // options.spans
    print(f"{options.requests} requests of {options.spans} spans of about {size} B, ", end="")
    print(f"{options.clients} connections, medians of {options.rounds} rounds")
    for name, rounds in found.items():
        print(line(name, rounds))
    if options.phoenix:
        ratio = median(map(rate, found["rt4chart"])) / median(map(rate, found["phoenix"]))
        print(f"rt4chart / phoenix, spans a CPU second: {ratio:.1f}")


def line(name: str, rounds: Sequence[Round]) -> str:
    """The medians of a server's rounds."""
    p99 = median(quantiles(one.request_s, n=100)[98] for one in rounds) * 1000
    return (
        f"{name:9} {median(map(rate, rounds)):8,.0f} spans/CPU-s"
        f"  {median(one.spans / one.wall_s for one in rounds):8,.0f} spans/s to disk"
        f"  p99 of a request {p99:6,.0f} ms"
        f"  peak {median(one.peak_mib for one in rounds):5,.0f} MiB"
        f"  stored {sum(one.spans for one in rounds)}"
        f"  refused and sent again {sum(one.refused for one in rounds)}"
    )


def rate(one: Round) -> float:
    """Spans a CPU second."""
    return one.spans / one.cpu_s


def request(number: int, spans: int) -> bytes:
    """One export of some traces of three spans each, with six attributes."""
    message, now_ns = ExportTraceServiceRequest(), time.time_ns()
    group = message.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "bench"
    scope = group.scope_spans.add()
    for at in range(spans):
        ordinal = number * spans + at
        span = scope.spans.add(name="step", start_time_unix_nano=now_ns)
        span.end_time_unix_nano = now_ns + 1_000_000
        span.trace_id = (ordinal // 3 + 1).to_bytes(16, "big")
        span.span_id = (ordinal + 1).to_bytes(8, "big")
        if ordinal % 3:
            span.parent_span_id = (ordinal - ordinal % 3 + 1).to_bytes(8, "big")
        for key, value in (
            ("openinference.span.kind", "CHAIN"),
            ("input.value", f"{ordinal} {TEXT * 10}"),
            ("output.value", f"{ordinal} {TEXT * 4}"),
            ("input.mime_type", "text/plain"),
            ("output.mime_type", "text/plain"),
            ("session.id", f"session-{ordinal % 50}"),
        ):
            span.attributes.add(key=key).value.string_value = value
    return message.SerializeToString()


def measured(server: Server, bodies: Sequence[bytes], clients: int, spans: int) -> Round:
    """Send the bodies and wait until every span is in the store."""
    with ThreadPoolExecutor(clients) as pool:
        send(server.address, [request(0, spans)])  # what is made at first use
        wait_for(server, spans)
        before, began = cpu_s(server.pid), time.perf_counter()
        parts = [bodies[at::clients] for at in range(clients)]
        replies = list(pool.map(lambda mine: send(server.address, mine), parts))
        wait_for(server, spans * (len(bodies) + 1))
        wall_s = time.perf_counter() - began
    return Round(
        spans=spans * len(bodies),
        wall_s=wall_s,
        cpu_s=cpu_s(server.pid) - before,
        request_s=[seconds for took, _ in replies for seconds in took],
        refused=sum(refused for _, refused in replies),
        peak_mib=peak_mib(server.pid),
    )


def send(address: str, bodies: Sequence[bytes]) -> tuple[list[float], int]:
    """The seconds of each request from its first attempt on, and how often one was refused."""
    took, refused = [], 0
    with closing(http.client.HTTPConnection(address, timeout=120)) as connection:
        for body in bodies:
            began = time.perf_counter()
            while (code := posted(connection, body)) in AGAIN:
                refused += 1
                time.sleep(PAUSE_S)
            if code != 200:
                raise SystemExit(f"expected 200, got {code}")
            took.append(time.perf_counter() - began)
    return took, refused


def posted(connection: http.client.HTTPConnection, body: bytes) -> int:
    """The status of one attempt."""
    connection.request("POST", "/v1/traces", body, HEADERS)
    reply = connection.getresponse()
    reply.read()
    return reply.status


def wait_for(server: Server, spans: int) -> None:
    """Return when so many spans are stored."""
    deadline = Deadline(DRAINED_S)
    while (stored := server.stored()) < spans:
        if deadline.is_over:
            raise SystemExit(f"{server.name}: {stored} of {spans} spans in its store")
        time.sleep(0.02)


def cpu_s(pid: int) -> float:
    """User and system time of a process and of its ended children (proc_pid_stat(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def peak_mib(pid: int) -> float:
    """The most memory that the process had (proc_pid_status(5), VmHWM)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = next(one for one in lines if one.startswith("VmHWM:"))
    return int(found.split()[1]) / 1024


@contextmanager
def ours(folder: Path, _: str | None) -> Iterator[Server]:
    """`rt4chart up` with an empty embedded database."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "otel_rt4chart", "up", "--dsn", f"chdb://{folder / 'db'}"]
    command += ["--judge", "rules", "--otlp-http", address]
    command += ["--otlp-grpc", "127.0.0.1:0", "--console", "off", "--health", "off"]
    with started(command, folder, {}, f"http://{address}/healthz") as pid:
        url = f"http://{address}"
        yield Server("rt4chart", pid, address, lambda: int(status(url)["spans_stored"]))


@contextmanager
def phoenix(folder: Path, command: str) -> Iterator[Server]:
    """Phoenix with an empty database; its spans are counted there, by a reader beside it."""
    port, grpc = free_port(), free_port()
    environ = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }

    def stored() -> int:
        with closing(sqlite3.connect(f"file:{folder / 'phoenix.db'}?mode=ro", uri=True)) as found:
            return int(found.execute("SELECT count(*) FROM spans").fetchone()[0])

    with started([command, "serve"], folder, environ, f"http://127.0.0.1:{port}/healthz") as pid:
        yield Server("phoenix", pid, f"127.0.0.1:{port}", stored)


@contextmanager
def started(
    command: Sequence[str], folder: Path, environ: dict[str, str], health: str
) -> Iterator[int]:
    """The process id of a server that answers; it is ended after the block."""
    log = folder / "server.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **environ}) as process,
    ):
        try:
            deadline = Deadline(STARTED_S)
            while not answers(health):
                if process.poll() is not None or deadline.is_over:
                    raise SystemExit(f"{command[0]} did not start: {log.read_text()[-2000:]}")
                time.sleep(0.2)
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def answers(url: str) -> bool:
    """True where the server is up."""
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:  # noqa: S310 loopback
            return bool(reply.status == 200)
    except OSError:
        return False


if __name__ == "__main__":
    main()
