"""What attacks on `rt4chart up` cost it, and how long a probe and an ordinary request wait.

    python -m benchmarks.service.attacks [ATTACK ...]

Each attack meets a service of its own with an empty embedded database and a token, which those know
that need it. Printed are CPU seconds and peak memory of its process, the longest answer of /healthz
on the OTLP port and on the port for probes, and how long an ordinary export took at worst.
"""

from __future__ import annotations

import argparse
import gzip
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.service.ingest import HEADERS, cpu_s, peak_mib, request, started
from rt4chart_collector.demo.processes import free_port

TOKEN = "the-token-of-this-attack"  # noqa: S105 - of this benchmark
LASTS_S, PROBE_S, PATIENCE_S = 20.0, 0.2, 120.0
HEAD = b"POST /v1/traces HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n"


@dataclass(frozen=True, slots=True)
class Target:
    """A running service."""

    pid: int
    otlp: str
    health: str

    @property
    def address(self) -> tuple[str, int]:
        """Where it takes OTLP over HTTP."""
        host, _, port = self.otlp.rpartition(":")
        return host, int(port)


@dataclass(slots=True)
class Probe:
    """The longest answer to a repeated request, and how many failed."""

    longest_s: float = 0.0
    failed: int = 0
    sent: int = 0
    statuses: set[int] = field(default_factory=set)

    def run(self, url: str, stopped: threading.Event, body: bytes | None = None) -> None:
        """Ask until the attack ends."""
        while not stopped.is_set():
            began = time.monotonic()
            status = posted(url, body)
            self.longest_s = max(self.longest_s, time.monotonic() - began)
            self.sent += 1
            self.failed += status != 200
            self.statuses.add(status)
            stopped.wait(PROBE_S)

    def __str__(self) -> str:
        """The figures."""
        failed = f", {self.failed} of {self.sent} failed" if self.failed else ""
        return f"{self.longest_s:.2f} s{failed}"


def posted(url: str, body: bytes | None, **headers: str) -> int:
    """The status of a request; 0 without an answer."""
    sent = {**HEADERS, "authorization": f"Bearer {TOKEN}", **headers}
    asked = urllib.request.Request(url, body, sent)  # noqa: S310 loopback
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE_S) as reply:  # noqa: S310 loopback
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def send_packed(target: Target, body: bytes, kind: str, times: int) -> list[int]:
    """Send the same packed body several times at once."""
    packed = gzip.compress(body)
    statuses: list[int] = []

    def send() -> None:
        named = {"content-type": kind, "content-encoding": "gzip"}
        statuses.append(posted(f"http://{target.otlp}/v1/traces", packed, **named))

    threads = [threading.Thread(target=send) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"  {times} requests of {len(packed):,} B were answered {statuses}")
    return statuses


def json_objects(target: Target) -> None:
    """Four gzip requests of 10 kB with empty JSON objects."""
    body = b'{"resourceSpans":[' + b",".join([b"{}"] * 3_400_000) + b"]}"
    send_packed(target, body, "application/json", 4)


def protobuf_objects(target: Target) -> None:
    """One gzip request of 61 kB with empty messages."""
    send_packed(target, b"\x0a\x00" * 31_000_000, "application/x-protobuf", 1)


def small_chunks(target: Target) -> None:
    """One connection without a token that sends chunks of a byte, again as soon as it is closed."""
    until = time.monotonic() + LASTS_S
    data = HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 200_000
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(target.address, PATIENCE_S) as one:
            while time.monotonic() < until:
                one.sendall(data)
                data = b"1\r\nx\r\n" * 200_000
        data = HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 200_000


def idle_connections(target: Target) -> None:
    """512 idle connections, opened again when they are closed."""
    until = time.monotonic() + LASTS_S
    with ExitStack() as stack:
        while time.monotonic() < until:
            with suppress(OSError):
                for _ in range(512):
                    stack.enter_context(socket.create_connection(target.address, 1))
            time.sleep(4)
            stack.close()


ATTACKS: Mapping[str, Callable[[Target], object]] = {
    attack.__name__: attack
    for attack in (json_objects, protobuf_objects, small_chunks, idle_connections)
}


@contextmanager
def running(folder: Path) -> Iterator[Target]:
    """The service."""
    otlp, health = (f"127.0.0.1:{free_port()}" for _ in range(2))
    command = [sys.executable, "-m", "otel_rt4chart", "up", "--dsn", f"chdb://{folder / 'db'}"]
    command += ["--judge", "rules", "--otlp-http", otlp]
    command += ["--otlp-grpc", "127.0.0.1:0", "--console", "off"]
    environ = {"RT4CHART_INGEST_TOKEN": TOKEN, "RT4CHART_HEALTH": health}
    with started(command, folder, environ, f"http://{otlp}/healthz") as pid:
        yield Target(pid, otlp, health)


def measure(attack: Callable[[Target], object]) -> None:
    """Run one attack and print its figures."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as target:
        urls = [f"http://{target.otlp}/healthz", f"http://{target.health}/healthz"]
        probes, stopped = [Probe(), Probe(), Probe()], threading.Event()
        export = f"http://{target.otlp}/v1/traces"
        given: Sequence[tuple[str, bytes | None]] = [
            *((url, None) for url in urls),
            (export, request(1, 20)),
        ]
        threads = [
            threading.Thread(target=probe.run, args=(url, stopped, body), daemon=True)
            for probe, (url, body) in zip(probes, given, strict=True)
        ]
        before = cpu_s(target.pid)
        for thread in threads:
            thread.start()
        attack(target)
        stopped.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        print(
            f"{attack.__name__}: {cpu_s(target.pid) - before:.1f} CPU s, "
            f"peak {peak_mib(target.pid):,.0f} MiB; /healthz on the OTLP port at most {probes[0]}; "
            f"on its own port {probes[1]}; an ordinary export {probes[2]}",
            flush=True,
        )


def main() -> None:
    """Run the attacks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("attacks", nargs="*", choices=[*ATTACKS, []])
    for name in parser.parse_args().attacks or ATTACKS:
        measure(ATTACKS[name])


if __name__ == "__main__":
    main()
