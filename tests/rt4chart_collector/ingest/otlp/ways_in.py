"""Both ways in, running in this process behind a queue of the test's own."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from otel_rt4chart.core.settings_parsers import Address
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.otlp.http_server import build_app
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.servers import bound_socket, serve_otlp, url_of
from rt4chart_collector.ingest.tls import Tls

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
ANY_PORT = Address("127.0.0.1", 0)


class Queue:
    """Takes what is offered and answers what it was told to."""

    def __init__(self) -> None:
        self.offered: list[Sequence[SpanRecord]] = []
        self.error: Exception | None = None
        self.is_full = False
        self.refused = 0
        self.conflicts = 0

    @property
    def span_ids(self) -> list[str]:
        """Of all spans that were taken, in their order."""
        return [span.span_id for spans in self.offered for span in spans]

    def offer(self, spans: Sequence[SpanRecord], size_bytes: int) -> Future[int] | None:
        """Resolve at once, as configured."""
        if self.is_full:
            self.refused += 1
            return None
        self.offered.append(spans)
        stored: Future[int] = Future()
        if self.error:
            stored.set_exception(self.error)
        else:
            stored.set_result(self.conflicts)
        return stored


@dataclass(frozen=True, slots=True)
class WaysIn:
    """Where a running intake listens."""

    url: str
    address: str

    @contextmanager
    def channel(self) -> Iterator[grpc.Channel]:
        """A gRPC channel in the clear."""
        with grpc.insecure_channel(self.address) as channel:
            yield channel

    def connect(self) -> socket.socket:
        """A connection to the web server."""
        host, _, port = self.url.rpartition("/")[2].rpartition(":")
        return socket.create_connection((host, int(port)), timeout=30)


def unary(channel: grpc.Channel) -> grpc.UnaryUnaryMultiCallable[bytes, bytes]:
    """TraceService/Export with bytes in and out."""
    return channel.unary_unary(EXPORT)


def streamed(channel: grpc.Channel) -> grpc.StreamUnaryMultiCallable[bytes, bytes]:
    """The same on the wire, with a message that may be late."""
    return channel.stream_unary(EXPORT)


@contextmanager
def ways_in(intake: Intake, *, tls: Tls | None = None, stop_s: float = 5) -> Iterator[WaysIn]:
    """Serve until the end of the block."""
    with bound_socket(ANY_PORT) as bound:
        url = url_of(bound, tls)
        app = build_app(intake)
        with serve_otlp(app, bound, intake, ANY_PORT, tls=tls, stop_s=stop_s) as address:
            yield WaysIn(url, str(address))


def certificate(folder: Path, name: str = "served", *, days: int = 30) -> Tls:
    """A certificate of its own authority for this machine, and its key, that ends in these days."""
    tls = Tls(str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += [
        "-nodes",
        "-keyout",
        tls.key,
        "-out",
        tls.cert,
        "-days",
        str(days),
        "-subj",
        "/CN=test",
    ]
    command += ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)
    return tls
