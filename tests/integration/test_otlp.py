"""OTLP in, from OpenTelemetry's own exporters to the database: what was sent and what is stored."""

from __future__ import annotations

import os
import re
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import grpc
import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_rt4chart.cli import main
from rt4chart_collector.ingest.otlp.intake import Intake
from tests.integration.service import Service, command, read, service
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue, certificate, unary, ways_in
from tests.rt4chart_collector.otlp.messages import request, span

pytestmark = pytest.mark.e2e
TOKEN = "s3cret-of-the-service"  # noqa: S105 - of this test
SPANS = "SELECT SpanId, count() FROM otel_traces GROUP BY SpanId ORDER BY SpanId"
FAILED, DONE = SpanExportResult.FAILURE, SpanExportResult.SUCCESS


def spans(number: int) -> list[ReadableSpan]:
    """So many ended spans of a tracer."""
    tracer = TracerProvider().get_tracer("test")
    made = [tracer.start_span("answer") for _ in range(number)]
    for one in made:
        one.end()
    return [one for one in made if isinstance(one, ReadableSpan)]


def ids(sent: list[ReadableSpan]) -> list[str]:
    """Their ids, as they are stored."""
    return sorted(f"{one.context.span_id:016x}" for one in sent if one.context)


def grpc_address(running: Service) -> str:
    """Where the service takes gRPC."""
    found = re.search(r"gRPC at (\S+),", running.greeting)
    assert found, running.greeting
    return found[1]


def exporters(url: str, address: str, **more: str) -> Iterator[SpanExporter]:
    """One of each kind, packed and not, with these headers."""
    headers = more or None
    for packing in (grpc.Compression.Gzip, grpc.Compression.NoCompression):
        yield GrpcExporter(address, insecure=True, headers=headers, compression=packing)
    for packed in (Compression.Gzip, Compression.NoCompression):
        yield HttpExporter(f"{url}/v1/traces", headers=headers, compression=packed)


def test_what_the_exporters_send_is_stored(tmp_path: Path) -> None:
    """Over gRPC and HTTP, packed and not: each span once."""
    database, sent = tmp_path / "db", list[ReadableSpan]()
    with service(f"chdb://{database}") as running:
        for exporter in exporters(running.url, grpc_address(running)):
            sent += (batch := spans(50))
            assert exporter.export(batch) is DONE
            exporter.shutdown()
        stored = running.status()["spans_stored"]
        assert running.stop() == 0

    assert stored == 200
    assert read(database, SPANS) == [[[one, 1] for one in ids(sent)]]


def test_token_and_tls_are_asked_for_by_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spans with the certificate and the token are stored, others are refused once.

    Health is for everyone, figures are not; the token is not in the greeting.
    """
    tls = certificate(tmp_path)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", tls.cert)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        # requests would prefer it to the exporter's own certificate.
        monkeypatch.delenv(name, raising=False)
    database = tmp_path / "db"
    tokens = {"RT4CHART_INGEST_TOKEN": TOKEN, "RT4CHART_READ_TOKEN": "r3ader"}
    settings = {**tokens, "RT4CHART_TLS_CERT": tls.cert, "RT4CHART_TLS_KEY": tls.key}
    with service(f"chdb://{database}", environ=settings) as running:
        assert running.url.startswith("https://")
        address = f"https://{grpc_address(running)}"
        results: list[SpanExportResult] = []
        sent: list[ReadableSpan] = []
        for token in (TOKEN, "another"):
            headers = {"authorization": f"Bearer {token}"}
            for exporter in (
                GrpcExporter(address, headers=headers),
                HttpExporter(f"{running.url}/v1/traces", headers=headers),
            ):
                batch = spans(5)
                results.append(exporter.export(batch))
                sent += batch if token == TOKEN else []
                exporter.shutdown()
        mine, reader = ({"authorization": f"Bearer {one}"} for one in (TOKEN, "r3ader"))
        with httpx.Client(verify=ssl.create_default_context(cafile=tls.cert)) as web:
            asked = [
                web.get(f"{running.url}{path}", headers=headers).status_code
                for path, headers in (("/healthz", {}), ("/status", mine), ("/status", reader))
            ]
        assert running.stop() == 0

    assert asked == [200, 401, 200]
    assert TOKEN not in running.greeting
    assert results == [DONE, DONE, FAILED, FAILED]
    assert read(database, SPANS) == [[[one, 1] for one in ids(sent)]]


@pytest.mark.parametrize("kind", [0, 2], ids=["grpc", "http"])
def test_exporter_sends_again_when_it_was_told(kind: int) -> None:
    """A full queue costs no span, and the exporter waits the second that it was asked for."""
    queue = Queue()
    queue.is_full = True
    with ways_in(Intake(queue.offer)) as served:
        exporter = list(exporters(served.url, served.address))[kind]
        begin = time.monotonic()
        emptied = threading.Timer(0.5, setattr, (queue, "is_full", False))
        emptied.start()
        result = exporter.export(spans(7))
        took = time.monotonic() - begin
        exporter.shutdown()
        emptied.join()

    assert (result, len(queue.span_ids), queue.refused) == (DONE, 7, 1)
    # Not before the second that it was asked to wait, less the exporter's jitter.
    assert took > 0.75


def test_killed_service_keeps_what_it_acknowledged_over_grpc(tmp_path: Path) -> None:
    """SIGKILL in the middle: every acknowledged span is there after the next start."""
    database, now = tmp_path / "db", time.time_ns()
    acknowledged: list[int] = []
    numbers, ended = count(1), threading.Event()

    with service(f"chdb://{database}") as running:
        address = grpc_address(running)

        def send() -> None:
            with grpc.insecure_channel(address) as channel:
                while not ended.is_set():
                    number = next(numbers)
                    try:
                        unary(channel)(request(span(number, start_ns=now)), timeout=30)
                    except grpc.RpcError:
                        ended.set()
                    else:
                        acknowledged.append(number)

        senders = [threading.Thread(target=send) for _ in range(8)]
        for sender in senders:
            sender.start()
        running.wait_until(lambda status: status["spans_stored"] >= 200)
        running.stop(signal.SIGKILL)
        for sender in senders:
            sender.join()

    (stored,) = read(database, SPANS)
    found = {int(span_id, 16) for span_id, _ in stored}
    assert len(acknowledged) >= 190
    assert set(acknowledged) <= found
    # What was not acknowledged is at most one request of each sender.
    assert len(found - set(acknowledged)) <= 8


def test_enqueued_is_acknowledged_before_it_is_stored_and_stored_at_the_end(
    tmp_path: Path,
) -> None:
    """SIGTERM empties the queue."""
    database, now = tmp_path / "db", time.time_ns()
    with service(f"chdb://{database}", "--ack", "enqueued") as running:
        with grpc.insecure_channel(grpc_address(running)) as channel:
            calls = [
                unary(channel).future(request(span(number, start_ns=now)))
                for number in range(1, 101)
            ]
            answers = [call.result(30) for call in calls]
        assert running.stop() == 0

    assert answers == [b""] * 100
    assert len(read(database, SPANS)[0]) == 100


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"RT4CHART_INGEST_TOKEN": f"{TOKEN} x"}, "RT4CHART_INGEST_TOKEN: expected visible ASCII"),
        ({"RT4CHART_TLS_CERT": "no.pem"}, "RT4CHART_TLS_CERT and RT4CHART_TLS_KEY: expected both"),
        ({"RT4CHART_OTLP_GRPC": "0.0.0.0:4317"}, "RT4CHART_OTLP_GRPC: other machines can reach"),
        ({"RT4CHART_OTLP_HTTP": "0.0.0.0:4318"}, "RT4CHART_OTLP_HTTP: other machines can reach"),
    ],
)
def test_wrong_setting_stops_the_start(
    environ: dict[str, str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit status 2 and one line with no secret in it, before anything is begun."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    status = main(["up"])

    errors = capsys.readouterr().err
    assert (status, len(errors.splitlines())) == (2, 1)
    assert words in errors
    assert TOKEN not in errors


def test_files_that_are_no_certificate_stop_the_start() -> None:
    """In one line, as a process."""
    environ = {"RT4CHART_TLS_CERT": "no.pem", "RT4CHART_TLS_KEY": "no.key"}
    done = subprocess.run(
        command(), capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )

    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    expected = "RT4CHART_TLS_CERT and RT4CHART_TLS_KEY: expected a certificate chain"
    assert expected in done.stderr
