"""The service as a process: its figures, its health, and its end though something hangs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.integration.service import ANY_PORTS, Service, service
from tests.polling import wait_until
from tests.rt4chart_collector.otlp.messages import rag_trace, request
from tests.rt4chart_collector.telemetry.asked import samples

pytestmark = pytest.mark.e2e
STOP_S = 2.0
# What the log says if the end takes longer than the stages' deadline allows.
CUT_OFF = "shutdown took longer"
ANSWER = "The trial lasts 14 days."
QUIET = ("--trace-quiet-s", "0", "--stop-s", str(STOP_S))
# What a test does to the service before it starts, as a fault of the part would.
HUNG_STORE = """
from rt4chart_collector.service import verification
insert = verification.SpanDeduplicator.insert
def hang(self, spans):
    is_answer = spans[0].name == "retriever"
    return threading.Event().wait(600) if is_answer else insert(self, spans)
verification.SpanDeduplicator.insert = hang
"""
DYING_WORKER = """
from otel_rt4chart.verify import Verifier
def leave(*_, **__): sys.exit("a user's text")
Verifier.verify = leave
"""
START = (
    "import sys, threading\n{}\nfrom otel_rt4chart.cli import main\nsys.exit(main(sys.argv[1:]))"
)


@contextmanager
def broken(
    fault: str, dsn: str, *flags: str, environ: Mapping[str, str] | None = None
) -> Iterator[Service]:
    """A service with a fault in it; its stderr is in a pipe."""
    kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    start = [sys.executable, "-c", START.format(fault), "up", "--dsn", dsn, *ANY_PORTS, *flags]
    with subprocess.Popen(
        start,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, **(environ or {})},
    ) as process:
        try:
            with closing(Service(process)) as running:
                yield running
        finally:
            process.kill()


def trace(number: int = 1) -> bytes:
    """A request with one answer, of now."""
    return request(*rag_trace(number, start_ns=time.time_ns(), answer=ANSWER))


def reason(running: Service) -> str:
    """What /readyz says, empty where it is ready."""
    answer = running.get("/readyz").json()
    return str(answer.get("reason", ""))


def test_figures_of_a_service_at_work(tmp_path: Path) -> None:
    """/metrics and /status agree, and the end is clean."""
    dsn = f"chdb://{tmp_path / 'db'}"
    with service(dsn, *QUIET) as running:
        assert (running.send(trace()), running.send(b"no request")) == (200, 400)
        status = running.wait_until(lambda status: status["decisions"] == {"verified": 1})
        shown = samples(running.get("/metrics").text)
        ready = reason(running)
        code = running.stop()

    assert (code, ready) == (0, "")
    accepted, refused = (
        shown["rt4chart_requests_total", (("result", result), ("way", "http"))]
        for result in ("accepted", "malformed")
    )
    assert (accepted, refused, status["requests_refused"]) == (1, 1, {"malformed": 1})
    assert shown["rt4chart_spans_received_total", ()] == status["spans_stored"] == 3
    assert shown["rt4chart_store_insert_duration_seconds_count", (("kind", "spans"),)] == 1
    assert shown["rt4chart_verdict_lag_seconds_count", ()] == 1


def test_end_in_time_though_the_database_hangs(tmp_path: Path) -> None:
    """And a client holds a connection: the client keeps its spans, the status says that."""
    with broken(HUNG_STORE, f"chdb://{tmp_path / 'db'}", *QUIET) as running:
        answers: list[int] = []
        sender = threading.Thread(target=lambda: answers.append(running.send(trace())))
        sender.start()
        running.wait_until(lambda status: status["ingest_bytes"] > 0)
        host, _, port = running.url.rpartition("/")[2].rpartition(":")
        with socket.create_connection((host, int(port))) as slow:
            slow.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: t\r\ncontent-length: 9\r\n\r\nx")
            code = running.stop()
        sender.join(10)
        assert running.process.stderr is not None
        log = running.process.stderr.read()

    assert code == 1
    assert answers != [200]
    assert "the writer did not end in time" in log
    assert CUT_OFF not in log


def test_end_in_time_though_the_judge_hangs(tmp_path: Path) -> None:
    """An endpoint that takes the question and never answers; the next start goes on."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        environ = {
            "OPENAI_BASE_URL": endpoint,
            "OPENAI_API_KEY": "of-the-test",
            "RT4CHART_JUDGE_MODEL": "m",
            "RT4CHART_LOG_FORMAT": "json",
        }
        dsn = f"chdb://{tmp_path / 'db'}"
        with broken("", dsn, *QUIET, "--judge", "openai", environ=environ) as running:
            assert running.send(trace()) == 200
            asking, _ = silent.accept()
            with asking:
                code = running.stop(signal.SIGINT)
            assert running.process.stderr is not None
            lines = [json.loads(line) for line in running.process.stderr.read().splitlines()]

    assert code == 1
    assert any("1 traces not verified in time" in line["message"] for line in lines)
    assert not any(CUT_OFF in line["message"] for line in lines)


def test_second_signal_ends_at_once(tmp_path: Path) -> None:
    """With the status of a process that the signal killed."""
    with broken(HUNG_STORE, f"chdb://{tmp_path / 'db'}", "--stop-s", "600") as running:
        sender = threading.Thread(target=lambda: running.send(trace()))
        sender.start()
        running.wait_until(lambda status: status["ingest_bytes"] > 0)
        assert running.process.stdout is not None
        running.process.send_signal(signal.SIGTERM)
        assert "stopping" in running.process.stdout.readline()
        code = running.stop()
        sender.join(10)

    assert code == 143


def test_dead_thread_is_reported(tmp_path: Path) -> None:
    """By /readyz and in the log; the process still answers, and ends on a signal."""
    expected = "workers_dead"
    with broken(DYING_WORKER, f"chdb://{tmp_path / 'db'}", *QUIET) as running:
        running.send(trace())
        wait_until(lambda: reason(running), lambda found: found == expected)
        alive = running.get("/healthz").text
        shown = samples(running.get("/metrics").text)
        code = running.stop()
        assert running.process.stderr is not None
        log = running.process.stderr.read()

    assert (alive, code) == ("ok\n", 0)
    assert shown["rt4chart_unready", (("reason", expected),)] == 1
    assert "is dead, restart the service: " in log
    assert "user's text" not in log
    assert CUT_OFF not in log


def test_full_queue_is_reported(tmp_path: Path) -> None:
    """While the database takes nothing, until there is room again."""
    flags = (*QUIET, "--ingest-queue-mib", "1", "--ack", "enqueued")
    large = request(*rag_trace(1, start_ns=time.time_ns(), answer="so " * 200_000))
    with broken(HUNG_STORE, f"chdb://{tmp_path / 'db'}", *flags) as running:
        wait_until(lambda: running.send(large), lambda code: code == 503)
        found = reason(running)
        code = running.stop()
        assert running.process.stderr is not None
        log = running.process.stderr.read()

    assert (found, code) == ("queue_full", 1)
    assert CUT_OFF not in log
