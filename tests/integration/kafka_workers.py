"""Workers as real processes on a real broker, and what became of the answers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from rt4chart_collector.store.engine.connect import connect
from tests.integration.kafka import Kafka
from tests.rt4chart_collector.otlp.messages import rag_trace, request

GOOD, BAD = "The trial lasts 14 days.", "The trial lasts 30 days."
TOPIC, GROUP = "otlp_spans", "rt4chart"
PATIENCE_S = 120
# A killed member's partitions are another's after this, instead of 45 s.
SHORT = {"RT4CHART_KAFKA_SESSION_TIMEOUT_MS": "6000"}
COUNTS = """
SELECT (SELECT count() FROM rt4chart_verifications FINAL WHERE IsDeleted = 0),
    (SELECT uniqExact(TraceId, SpanId) FROM rt4chart_verifications FINAL WHERE IsDeleted = 0),
    (SELECT countIf(Label = 'contradicted') FROM rt4chart_verifications FINAL WHERE IsDeleted = 0),
    (SELECT count() FROM rt4chart_claims FINAL WHERE IsDeleted = 0 AND Label != 'not_a_claim'),
    (SELECT sum(Answers) FROM rt4chart_route_1m),
    (SELECT sum(Contradicted) FROM rt4chart_route_1m)
"""


class Counts(NamedTuple):
    """What the tables and the sums per minute say."""

    verified: int
    answers: int
    contradicted: int
    claims: int
    rollup: int
    rollup_contradicted: int


def counts(dsn: str) -> Counts:
    """At this moment, as a guest of the service that owns the database."""
    with connect(dsn) as client:
        return Counts(*map(int, client.query(COUNTS).result_rows[0]))


def expected(number: int) -> Counts:
    """What there must be of so many answers: every third is contradicted."""
    bad = len([one for one in range(1, number + 1) if one % 3 == 0])
    return Counts(number, number, bad, number, number, bad)


def wait_counts(dsn: str, number: int, workers: list[Worker]) -> Counts:
    """Until so many answers are verified, for a bounded time."""
    until = time.monotonic() + PATIENCE_S
    while (found := counts(dsn)).verified < number:
        is_alive = any(one.process.poll() is None for one in workers)
        assert is_alive, [one.log for one in workers]
        assert time.monotonic() < until, (found, [one.log for one in workers])
        time.sleep(0.1)
    return found


def send(kafka: Kafka, numbers: range, *, topic: str = TOPIC) -> None:
    """One trace a number, its spans in two messages with its id as their key."""
    now = time.time_ns()
    for number in numbers:
        spans = rag_trace(number, start_ns=now, answer=BAD if number % 3 == 0 else GOOD)
        key = f"{number:032x}".encode()
        kafka.send(topic, request(*spans[:2]), key)
        kafka.send(topic, request(*spans[2:]), key)
    kafka.flush()


class Worker:
    """A `rt4chart work` process; what it says lies in a file."""

    def __init__(
        self,
        dsn: str,
        kafka: Kafka,
        folder: Path,
        environ: Mapping[str, str],
        within: Sequence[str] = (),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / f"worker-{time.monotonic_ns()}.log"
        kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
        given = {
            "RT4CHART_DSN": dsn,
            "RT4CHART_SOURCE": f"kafka://{kafka.address}/{TOPIC}?group={GROUP}",
            "RT4CHART_JUDGE": "rules",
            "RT4CHART_WORK_HTTP": "off",
            "RT4CHART_STORE_SPANS": "true",
            "RT4CHART_TRACE_QUIET_S": "0.3",
            **SHORT,
            **environ,
        }
        with self._log.open("wb") as out:
            self.process = subprocess.Popen(
                [*within, sys.executable, "-m", "otel_rt4chart", "work"],
                stdout=out,
                stderr=out,
                env={**kept, **given},
            )

    @property
    def log(self) -> str:
        """The end of what it said."""
        return self._log.read_text(errors="replace")[-3000:]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


def until_logged(worker: Worker, words: str) -> None:
    """Until the worker says this, for a bounded time."""
    until = time.monotonic() + PATIENCE_S
    while words not in worker.log:
        assert time.monotonic() < until, worker.log
        time.sleep(0.1)


@contextmanager
def workers(
    number: int,
    dsn: str,
    kafka: Kafka,
    folder: Path,
    *,
    within: Sequence[str] = (),
    **environ: str,
) -> Iterator[list[Worker]]:
    """So many workers, started by the command `within`; all are killed at the end.

    A test may add more.
    """
    started = [Worker(dsn, kafka, folder, environ, within) for _ in range(number)]
    try:
        yield started
    finally:
        for one in started:
            one.process.kill()
            one.process.wait(PATIENCE_S)


class Road:
    """A way to a port that can be closed: what is on it is cut, what comes is refused."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._open: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self.port = 0
        self.open()

    def open(self) -> None:
        """Let connections through."""
        listener = self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def close(self) -> None:
        """Cut everything."""
        if self._listener is not None:
            # Closing alone does not wake the thread that waits in accept.
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._open += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=_carry, args=ends, daemon=True).start()


def _carry(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(2**16):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
