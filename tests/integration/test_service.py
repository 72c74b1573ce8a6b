"""The service as a process: from OTLP to rates, stopped politely and killed."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
import time
from itertools import count
from pathlib import Path

import pytest
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from otel_rt4chart.core import semconv
from tests.integration.service import ANY_PORTS, command, read, service
from tests.rt4chart_collector.otlp.messages import rag_trace, request

pytestmark = pytest.mark.e2e
GOOD, BAD = "The trial lasts 14 days.", "The trial lasts 30 days."
DECISIONS = "SELECT Decision, Label, count() FROM rt4chart_verifications FINAL GROUP BY ALL"
SPANS = "SELECT DISTINCT TraceId, SpanId FROM otel_traces"
# Rows in force, answers, claims of the verifications and claims that lie in the claims table.
ANSWERS = """
SELECT count(), uniqExact(TraceId, SpanId), sum(ClaimCount),
    (SELECT count() FROM rt4chart_claims FINAL WHERE Label != 'not_a_claim')
FROM rt4chart_verifications FINAL
"""
ROLLUP = "SELECT sum(Answers), sum(Claims), sum(Contradicted) FROM rt4chart_route_1m"
CONTRADICTED = "SELECT sum(ContradictedCount) FROM rt4chart_verifications FINAL"


def test_spans_of_the_sdk_become_verdicts(tmp_path: Path) -> None:
    """OpenTelemetry's own exporter sends, SIGTERM ends, and all of it is in the database."""
    with service(f"chdb://{tmp_path / 'db'}", "--trace-quiet-s", "600") as running:
        provider = TracerProvider(resource=Resource({semconv.SERVICE_NAME: "shop"}))
        exporter = OTLPSpanExporter(endpoint=f"{running.url}/v1/traces")
        provider.add_span_processor(BatchSpanProcessor(exporter))
        tracer = provider.get_tracer("test")
        document = f"{semconv.RETRIEVAL_DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"
        for answer in (GOOD, BAD):
            chain = {semconv.SPAN_KIND: "CHAIN", semconv.INPUT_VALUE: "How long is the trial?"}
            with tracer.start_as_current_span("ask", context=Context(), attributes=chain):
                found = {semconv.SPAN_KIND: "RETRIEVER", document: GOOD}
                tracer.start_span("search", attributes=found).end()
                generated = {semconv.SPAN_KIND: "LLM", semconv.OUTPUT_VALUE: answer}
                tracer.start_span("answer", attributes=generated).end()
        provider.shutdown()
        before = running.status()
        code = running.stop()

    assert (before["spans_stored"], before["traces_open"]) == (6, 2)
    assert code == 0
    decisions, spans, rollup = read(tmp_path / "db", DECISIONS, SPANS, ROLLUP)
    assert sorted(map(tuple, decisions)) == [
        ("verified", "contradicted", 1),
        ("verified", "entailed", 1),
    ]
    # Three of the application for each answer, and the carrier of its verdict.
    assert len(spans) == 8
    assert rollup == [[2, 2, 1]]


def body(number: int, now_ns: int) -> bytes:
    """The request with that number: five traces, two of three with a contradicted claim."""
    return request(
        *(
            span
            for trace_number in traces_of(number)
            for span in rag_trace(
                trace_number,
                start_ns=now_ns,
                answer=BAD if trace_number % 3 else GOOD,
                route=f"route-{trace_number % 4}",
            )
        )
    )


def traces_of(number: int) -> range:
    """The numbers of a request's traces."""
    return range(number * 5 + 1, number * 5 + 6)


def test_killed_service_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    """SIGKILL in the middle of ingest: acknowledged is stored, and an answer counts once."""
    database, now = tmp_path / "db", time.time_ns()
    acknowledged: list[int] = []
    unanswered: list[int] = []
    numbers = count()

    with service(f"chdb://{database}", "--trace-quiet-s", "0") as running:

        def send() -> None:
            while not unanswered:
                number = next(numbers)
                stored = running.send(body(number, now)) == 200
                (acknowledged if stored else unanswered).append(number)

        senders = [threading.Thread(target=send) for _ in range(4)]
        for sender in senders:
            sender.start()
        running.wait_until(lambda status: status["decisions"].get("verified", 0) >= 30)
        running.stop(signal.SIGKILL)
        for sender in senders:
            sender.join()

    with service(f"chdb://{database}", "--trace-quiet-s", "0.2") as again:
        # Clients send again what was not answered, whether it was stored or not.
        assert {again.send(body(number, now)) for number in unanswered} == {200}
        again.wait_until(lambda status: bool(status["idle"]))
        code = again.stop()

    sent = [*acknowledged, *unanswered]
    answers = 5 * len(sent)
    spans, counted, rollup, contradicted = read(database, SPANS, ANSWERS, ROLLUP, CONTRADICTED)
    assert code == 0
    assert {
        (f"{trace_number:032x}", f"{trace_number * 8 + offset:016x}")
        for number in sent
        for trace_number in traces_of(number)
        for offset in range(3)
    } <= {(trace_id, span_id) for trace_id, span_id in spans}
    assert counted == [[answers, answers, answers, answers]]
    assert rollup == [[answers, answers, contradicted[0][0]]]


def test_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    """Exit status 2, the variable and the way out, no traceback, and no database is made."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        done = subprocess.run(
            command(
                "--dsn",
                f"chdb://{tmp_path / 'db'}",
                "--otlp-grpc",
                "127.0.0.1:0",
                "--health",
                "off",
                "--otlp-http",
                address,
            ),
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert f"RT4CHART_OTLP_HTTP: cannot listen on {address}: in use; " in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "db").exists()


def test_second_service_on_one_database_is_refused(tmp_path: Path) -> None:
    """It names the path; the first one is not disturbed."""
    dsn = f"chdb://{tmp_path / 'db'}"
    with service(dsn) as running:
        done = subprocess.run(
            command("--dsn", dsn, *ANY_PORTS),
            capture_output=True,
            text=True,
            check=False,
        )
        status = running.status()
        code = running.stop(signal.SIGINT)

    assert done.returncode == 2
    assert f"another process owns {tmp_path / 'db'}; stop it" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (status["idle"], code) == (True, 0)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--judge", "oracle"), "unknown judge 'oracle'"),
        (("--dsn", "sqlite:///x"), "RT4CHART_DSN: expected chdb:///"),
    ],
)
def test_wrong_flag_is_reported_in_one_line(flags: tuple[str, str], words: str) -> None:
    """Exit status 2 and no traceback."""
    done = subprocess.run(command(*flags), capture_output=True, text=True, check=False)

    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert words in done.stderr
