"""Connections that are no TLS, to a service that asks for it."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SpanExportResult

from tests.attacks.scale import scaled
from tests.integration.service import service
from tests.integration.test_otlp import grpc_address, spans
from tests.rt4chart_collector.ingest.otlp.ways_in import certificate

pytestmark = pytest.mark.e2e
JUNK = b"GET / HTTP/1.1\r\nhost: t\r\n\r\n"


def drained(reading: int) -> bytes:
    """What is in a pipe."""
    found = b""
    with contextlib.suppress(BlockingIOError):
        while part := os.read(reading, 2**16):
            found += part
    return found


def test_failed_handshakes_write_nothing_and_stop_no_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where stderr is a pipe that nobody reads: gRPC's own lines once filled it."""
    tls = certificate(tmp_path)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", tls.cert)
    settings = {"RT4CHART_TLS_CERT": tls.cert, "RT4CHART_TLS_KEY": tls.key}
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    with service(f"chdb://{tmp_path / 'db'}", environ=settings, stderr=writing) as running:
        os.close(writing)
        drained(reading)
        host, _, port = grpc_address(running).rpartition(":")
        for _ in range(scaled(600, 5_000)):
            with socket.create_connection((host, int(port)), timeout=30) as connection:
                connection.sendall(JUNK)
                connection.recv(100)
        exporter = OTLPSpanExporter(f"https://{host}:{port}", timeout=30)
        result = exporter.export(spans(1))
        exporter.shutdown()

        assert drained(reading) == b""
        assert result is SpanExportResult.SUCCESS
        assert running.stop() == 0
    os.close(reading)
