"""The Collector as a gateway, with the file of deploy/: all spans one way, RAG traces the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from tests.integration.otelcol import (
    GATEWAY,
    GATEWAY_ENVIRON,
    TOKEN,
    Ports,
    collector,
    needed,
    some_ports,
)
from tests.integration.service import PROTOBUF
from tests.integration.sink import Sink, sink
from tests.rt4chart_collector.otlp.messages import pairs, request, span

pytestmark = pytest.mark.e2e
RECORDED = sorted((Path(__file__).parents[1] / "recorded/spans").glob("*.json"))
ALL, RAG = "/all/v1/traces", "/rag/v1/traces"
# The gateway's own file, with something else behind it.
BEHIND = """
exporters:
  otlp_http/all: {{endpoint: {url}/all, compression: gzip}}
  otlp_http/rag: {{endpoint: {url}/rag, compression: gzip}}
service:
  pipelines:
    traces/all: {{exporters: [otlp_http/all]}}
    traces/rag: {{exporters: [otlp_http/rag]}}
"""
Running = tuple[Ports, Sink]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A gateway, and what comes out of it."""
    needed()
    folder = tmp_path_factory.mktemp("gateway")
    with sink() as behind:
        (folder / "behind.yaml").write_text(BEHIND.format(url=behind.url))
        environ = {**GATEWAY_ENVIRON, "OTELCOL_QUEUE": str(folder / "queue")}
        ports = some_ports()
        with collector(ports, environ, GATEWAY, folder / "behind.yaml"):
            yield ports, behind


def send(ports: Ports, body: bytes, kind: str = PROTOBUF["content-type"]) -> int:
    """POST to the gateway with its token; the status."""
    headers = {"content-type": kind, "authorization": f"Bearer {TOKEN}"}
    url = f"http://127.0.0.1:{ports.http}/v1/traces"
    return httpx.post(url, content=body, headers=headers).status_code


def part(number: int, trace: int, parent: int, attributes: dict[str, str]) -> bytes:
    """A request with one span."""
    made = span(number)
    made.trace_id = trace.to_bytes(16, "big")
    made.parent_span_id = parent.to_bytes(8, "big") if parent else b""
    made.attributes.extend(pairs(attributes))
    return request(made)


def test_recorded_applications_pass_whole(running: Running) -> None:
    """Of every recorded trace the same exchange comes out that went in."""
    ports, behind = running
    sent = [decode_json(path.read_bytes()).spans for path in RECORDED]
    for path in RECORDED:
        assert send(ports, path.read_bytes(), "application/json") == 200
    ids = {one.span_id for spans in sent for one in spans}

    behind.wait_until(lambda: ids <= {one.span_id for one in list(behind.spans[RAG])})

    came = behind.traces(RAG)
    for path, spans in zip(RECORDED, sent, strict=True):
        traces = {one.trace_id for one in spans}
        found = [one for trace in sorted(traces) for one in find_candidates(came[trace])]
        wanted = [
            one
            for trace in sorted(traces)
            for one in find_candidates([span for span in spans if span.trace_id == trace])
        ]
        assert found == wanted, path.stem


def test_spans_between_pass_with_their_trace(running: Running) -> None:
    """What says nothing of RAG itself passes, whether it comes before or after what does."""
    ports, behind = running
    trace = 10**6
    parts = [
        part(11, trace, 10, {"db.system.name": "postgresql"}),
        part(13, trace, 12, {semconv.SPAN_KIND: "LLM"}),
        part(12, trace, 10, {"code.function.name": "answer"}),
        part(10, trace, 0, {"http.request.method": "POST"}),
    ]
    for one in parts:
        assert send(ports, one) == 200

    behind.wait_until(lambda: len(behind.traces(RAG)[f"{trace:032x}"]) == 4)


def test_other_traces_go_to_the_store_alone(running: Running) -> None:
    """A request without retrieval or generation is in the one stream and not in the other."""
    ports, behind = running
    other, last = 10**6 + 1, 10**6 + 2
    for one in (
        part(20, other, 0, {"http.request.method": "GET"}),
        part(21, other, 20, {"db.system.name": "redis"}),
        part(30, last, 0, {semconv.SPAN_KIND: "LLM"}),
    ):
        assert send(ports, one) == 200

    behind.wait_until(lambda: f"{last:032x}" in behind.traces(RAG))

    behind.wait_until(lambda: len(behind.traces(ALL)[f"{other:032x}"]) == 2)
    assert f"{other:032x}" not in behind.traces(RAG)


def test_nothing_is_taken_without_the_token(running: Running) -> None:
    """401, over HTTP as over gRPC the same authenticator asks."""
    ports, _ = running

    answer = httpx.post(
        f"http://127.0.0.1:{ports.http}/v1/traces", content=b"", headers=dict(PROTOBUF)
    )

    assert answer.status_code == 401
