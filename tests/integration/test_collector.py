"""OpenTelemetry's own Collector with the files of deploy/, from the SDK to verdicts."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.core import semconv
from rt4chart_collector.ingest.otlp.decode import KINDS, STATUSES
from rt4chart_collector.store.answers.spans import SPANS
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.ddl import CreateTable, parse_statement
from rt4chart_collector.store.schema.migrate import SchemaVariant, shipped_migrations
from tests.integration.otelcol import (
    AGENT,
    GATEWAY,
    GATEWAY_ENVIRON,
    TOKEN,
    Ports,
    binary,
    collector,
    free_ports,
    some_ports,
    source,
)
from tests.integration.service import PATIENCE_S, Service, read, service

pytestmark = pytest.mark.e2e
DOCS = Path(__file__).parents[2] / "docs"
SENTENCE = "The trial lasts 14 days."
CONTRIB = "github.com/open-telemetry/opentelemetry-collector-contrib"
STORED = "SELECT DISTINCT TraceId, SpanId FROM otel_traces WHERE ScopeName = 'test'"
VERIFIED = """
SELECT count(), uniqExact(TraceId), countIf(Decision = 'verified') FROM rt4chart_verifications FINAL
"""
Sent = set[tuple[str, str]]


def batch(traces: int = 5) -> list[ReadableSpan]:
    """The spans of so many answered questions, as the SDK makes them."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({semconv.SERVICE_NAME: "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("test")
    document = f"{semconv.RETRIEVAL_DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"
    chain = {semconv.SPAN_KIND: "CHAIN", semconv.INPUT_VALUE: "How long is the trial?"}
    for _ in range(traces):
        with tracer.start_as_current_span("ask", context=Context(), attributes=chain):
            found = {semconv.SPAN_KIND: "RETRIEVER", document: SENTENCE}
            tracer.start_span("search", attributes=found).end()
            said = {semconv.SPAN_KIND: "LLM", semconv.OUTPUT_VALUE: SENTENCE}
            tracer.start_span("answer", attributes=said).end()
    return list(kept.get_finished_spans())


def ids(spans: list[ReadableSpan]) -> Sent:
    """Their ids, as they are stored."""
    return {(f"{one.context.trace_id:032x}", f"{one.context.span_id:016x}") for one in spans}


class Sender:
    """An application's exporter; `acknowledged` are the spans that it was told were taken."""

    def __init__(self, ports: Ports) -> None:
        address = f"127.0.0.1:{ports.grpc}"
        self.exporter = OTLPSpanExporter(address, insecure=True, timeout=2)
        self.acknowledged: Sent = set()

    def send(self) -> None:
        """One batch; what is not taken is given up, as the SDK does."""
        spans = batch()
        if self.exporter.export(spans) is SpanExportResult.SUCCESS:
            self.acknowledged |= ids(spans)


def agent_environ(upstream: int, queue: Path, token: str = TOKEN) -> dict[str, str]:
    """The variables of agent.yaml."""
    return {
        "OTELCOL_UPSTREAM": f"127.0.0.1:{upstream}",
        "OTELCOL_UPSTREAM_PLAINTEXT": "true",
        "OTELCOL_QUEUE": str(queue),
        "RT4CHART_INGEST_TOKEN": token,
    }


def at(port: int) -> tuple[str, ...]:
    """The flags of a service that is found again after a restart."""
    return (
        *("--otlp-grpc", f"127.0.0.1:{port}"),
        *("--trace-quiet-s", "0.2", "--trace-orphan-s", "1"),
    )


def wait_for(running: Service, database: Path, wanted: Sent) -> None:
    """Until all of it is stored and verified, for a bounded time."""

    def is_there(status: dict[str, object]) -> bool:
        with connect(f"chdb://{database}") as client:
            rows = client.query(STORED).result_rows
        return bool(status["idle"]) and wanted <= {(str(one), str(two)) for one, two in rows}

    running.wait_until(is_there)


@pytest.mark.parametrize(
    ("config", "environ"),
    [
        (AGENT, {"OTELCOL_UPSTREAM": "gateway:4317", "RT4CHART_INGEST_TOKEN": TOKEN}),
        (GATEWAY, GATEWAY_ENVIRON),
    ],
    ids=["agent", "gateway"],
)
def test_configuration_is_valid(config: Path, environ: dict[str, str]) -> None:
    """By the Collector's own check, with the variables that the file names as needed."""
    done = subprocess.run(
        [str(binary()), "validate", f"--config={config}"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", ["deploy/service.md", "deploy/workers.md"])
def test_configuration_of_a_page_is_valid(tmp_path: Path, page: str) -> None:
    """What the documentation shows of a Collector, with the rest that one needs around it."""
    shown = re.findall(r"```yaml\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    (part,) = [yaml.safe_load(one) for one in shown if "exporters:" in one]
    extensions = part.setdefault("extensions", {"file_storage/queue": {"directory": "."}})
    (tmp_path / "ca.yaml").write_text(
        yaml.safe_dump(
            {
                "receivers": {"otlp": {"protocols": {"grpc": None}}},
                **part,
                "service": {
                    "extensions": list(extensions),
                    "pipelines": {
                        "traces": {"receivers": ["otlp"], "exporters": list(part["exporters"])}
                    },
                },
            }
        )
    )

    done = subprocess.run(
        [str(binary()), "validate", f"--config={tmp_path / 'ca.yaml'}"],
        env={"RT4CHART_INGEST_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_spans_become_verdicts_through_the_agent(tmp_path: Path) -> None:
    """All that was sent is stored and verified, though the service is killed in the middle."""
    database, ports = tmp_path / "db", some_ports()
    (upstream,) = free_ports(1)
    with collector(ports, agent_environ(upstream, tmp_path / "queue"), AGENT):
        sender = Sender(ports)
        with service(f"chdb://{database}", *at(upstream)) as running:
            for _ in range(10):
                sender.send()
            running.wait_until(lambda status: status["spans_stored"] > 0)
            sender.send()
            running.stop(signal.SIGKILL)
        for _ in range(10):
            sender.send()
        with service(f"chdb://{database}", *at(upstream)) as again:
            wait_for(again, database, sender.acknowledged)
            assert again.stop() == 0

    assert len(sender.acknowledged) == 21 * 15
    stored, verified = read(database, STORED, VERIFIED)
    assert {tuple(row) for row in stored} == sender.acknowledged
    assert verified == [[105, 105, 105]]


def test_killed_agent_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    """SIGKILL while it sends on and takes in: what it said it took comes out of its queue."""
    database, ports = tmp_path / "db", some_ports()
    (upstream,) = free_ports(1)
    environ = agent_environ(upstream, tmp_path / "queue")
    with service(f"chdb://{database}", *at(upstream)) as running:
        with collector(ports, environ, AGENT) as agent:
            sender = Sender(ports)
            is_over = threading.Event()

            def send() -> None:
                while not is_over.is_set():
                    sender.send()

            thread = threading.Thread(target=send)
            thread.start()
            running.wait_until(lambda status: status["spans_stored"] > 300)
            agent.kill()
            is_over.set()
            thread.join()
        assert sender.acknowledged
        with collector(ports, environ, AGENT):
            wait_for(running, database, sender.acknowledged)
        assert running.stop() == 0

    stored, verified = read(database, STORED, VERIFIED)
    assert sender.acknowledged <= {tuple(row) for row in stored}
    assert verified[0][0] == verified[0][1]


def test_agent_shows_the_token(tmp_path: Path) -> None:
    """A service that asks for one takes what the agent sends."""
    database, ports = tmp_path / "db", some_ports()
    (upstream,) = free_ports(1)
    tokens = {"RT4CHART_INGEST_TOKEN": TOKEN, "RT4CHART_READ_TOKEN": "r3ader"}
    with (
        collector(ports, agent_environ(upstream, tmp_path / "queue"), AGENT),
        service(f"chdb://{database}", *at(upstream), environ=tokens) as running,
    ):
        sender = Sender(ports)
        sender.send()
        shown = {"authorization": "Bearer r3ader"}
        until = time.monotonic() + PATIENCE_S
        while httpx.get(f"{running.url}/status", headers=shown).json()["spans_stored"] < 15:
            assert time.monotonic() < until
            time.sleep(0.1)
        running.stop()

    (stored,) = read(database, STORED)
    assert {tuple(row) for row in stored} == sender.acknowledged


def cases(text: str, name: str) -> Iterator[str]:
    """What a String method of the Collector's data types returns, in the order of its cases."""
    method = text.split(f"{name}) String() string")[1].split("\n}\n")[0]
    yield from re.findall(r'case \w+:\n\t\treturn "(\w+)"', method)


@pytest.mark.parametrize(
    ("file", "name", "ours"),
    [("span_kind.go", "SpanKind", KINDS), ("status_code.go", "StatusCode", STATUSES)],
)
def test_kinds_and_statuses_are_called_as_the_exporter_calls_them(
    file: str, name: str, ours: tuple[str, ...]
) -> None:
    """Our receiver and the Collector's exporter fill the same column with the same words."""
    text = source("go.opentelemetry.io/collector/pdata", f"ptrace/{file}")

    assert tuple(cases(text, name)) == ours


def test_our_table_has_the_columns_that_the_exporter_inserts() -> None:
    """Its INSERT, read from its source, names the columns of our table in their order."""
    module = f"{CONTRIB}/exporter/clickhouseexporter"
    text = source(module, "internal/sqltemplates/traces_insert.sql")
    found = re.search(r"INSERT INTO \S+ \(([^)]*)\)", text)
    assert found

    inserted = re.findall(r"[\w.]+", found[1])
    statements = [
        one
        for each in shipped_migrations()
        for one in SchemaVariant("otel").statements(each, shipped_migrations())
    ]
    (table,) = (one for one in map(parse_statement, statements) if one.name == "otel_traces")
    assert isinstance(table, CreateTable)
    assert inserted == [column.name for column in table.columns]
    assert sorted(inserted) == sorted(column.name for column in SPANS.columns)
