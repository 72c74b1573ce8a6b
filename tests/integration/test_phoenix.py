"""Hand-made spans as Phoenix reads them: its real server, over OTLP.

It needs the command `phoenix` of the package arize-phoenix: RT4CHART_PHOENIX names it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.polling import wait_until

PHOENIX = os.environ.get("RT4CHART_PHOENIX", "")
pytestmark = pytest.mark.skipif(
    not PHOENIX, reason="set RT4CHART_PHOENIX to the command `phoenix` of arize-phoenix"
)
START_S = 180
APPLICATION = """
import sys
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from otel_rt4chart import Passage, generator, retriever

provider = TracerProvider(resource=Resource({"openinference.project.name": "hand-made"}))
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(sys.argv[1] + "/v1/traces")))
trace.set_tracer_provider(provider)
for count in (3, 60):
    with trace.get_tracer("app").start_as_current_span("ask"):
        with retriever(f"search {count}", query="How long?") as r:
            r.documents([Passage(f"p{n}", f"Day {n}.", 0.5, {"n": n}) for n in range(count)])
        with generator("answer", question="How long?") as g:
            g.answer("30 days.")
provider.shutdown()
"""
SPANS = "{projects{edges{node{spans(first:9){edges{node{name numDocuments attributes}}}}}}}"


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture
def phoenix(tmp_path: Path) -> Iterator[str]:
    """The address of a running Phoenix."""
    port = free_port()
    environ = {
        **os.environ,
        "PHOENIX_WORKING_DIR": str(tmp_path),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([PHOENIX, "serve"], env=environ, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: process.poll() is not None or is_up(url), bool, within_s=START_S)
        assert process.poll() is None, (tmp_path / "log").read_text()[-2000:]
        yield url
    finally:
        process.kill()
        process.wait()


def is_up(url: str) -> bool:
    """True once the server answers."""
    try:
        return httpx.get(url, timeout=5).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def spans_of(url: str) -> dict[str, dict[str, Any]]:
    """The spans that Phoenix has, by name."""
    reply = httpx.post(f"{url}/graphql", json={"query": SPANS}, timeout=30)
    projects = reply.json()["data"]["projects"]["edges"]
    return {
        span["node"]["name"]: span["node"]
        for project in projects
        for span in project["node"]["spans"]["edges"]
    }


def test_phoenix_shows_hand_made_documents(phoenix: str) -> None:
    """As documents; too many for a span's attributes are its output, and nothing is lost."""
    subprocess.run([sys.executable, "-c", APPLICATION, phoenix], check=True, timeout=60)

    spans = wait_until(lambda: spans_of(phoenix), lambda found: len(found) >= 4)
    few, many = (json.loads(spans[name]["attributes"]) for name in ("search 3", "search 60"))

    assert spans["search 3"]["numDocuments"] == 3
    assert [one["document"]["id"] for one in few["retrieval"]["documents"]] == ["p0", "p1", "p2"]
    assert "retrieval" not in many
    assert len(json.loads(many["output"]["value"])) == 60
