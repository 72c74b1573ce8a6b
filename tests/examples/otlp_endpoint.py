"""An OTLP endpoint for the examples: it keeps the spans that it is sent."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.otlp.decode import decode_spans


class Received(ThreadingHTTPServer):
    """An OTLP endpoint that keeps the spans it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans: list[SpanRecord] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Decodes what is posted."""

    server: Received

    def do_POST(self) -> None:
        """Take a request, compressed or not."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.spans += decode_spans(body).spans
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def running_endpoint() -> Iterator[Received]:
    """An endpoint that runs while the block does."""
    server = Received()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
