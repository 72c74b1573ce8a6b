"""A server that takes OTLP over HTTP and keeps what came."""

from __future__ import annotations

import gzip
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.otlp.decode import decode_spans
from tests.integration.service import PATIENCE_S


class Sink:
    """The spans that came, by the path that they were sent to."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: dict[str, list[SpanRecord]] = defaultdict(list)

    def traces(self, path: str) -> dict[str, list[SpanRecord]]:
        """The spans of a path by trace."""
        found: dict[str, list[SpanRecord]] = defaultdict(list)
        for span in list(self.spans[path]):
            found[span.trace_id].append(span)
        return found

    def wait_until(self, is_true: Callable[[], bool]) -> None:
        """Until it is so, for a bounded time."""
        until = time.monotonic() + PATIENCE_S
        while not is_true():
            assert time.monotonic() < until, {path: len(s) for path, s in self.spans.items()}
            time.sleep(0.1)


@contextmanager
def sink() -> Iterator[Sink]:
    """Listen on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            kept.spans[self.path].extend(decode_spans(body).spans)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept = Sink(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
