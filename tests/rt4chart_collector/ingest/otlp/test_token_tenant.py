"""Spans that are sent with the token of a tenant."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
from starlette.testclient import TestClient

from rt4chart_collector.core.instruments import SPANS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import Purpose, TokenSource
from rt4chart_collector.ingest.otlp.http_server import build_app
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.ingest.otlp.token_tenant import OTHER_TENANT
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue
from tests.rt4chart_collector.otlp.messages import pairs, span


def body(*tenants: str) -> bytes:
    """A span of each of these tenants, "" for one that names none."""
    groups = [
        ResourceSpans(
            resource=Resource(
                attributes=pairs(
                    {"service.name": "shop", **({"rt4chart.tenant": name} if name else {})}
                )
            ),
            scope_spans=[ScopeSpans(spans=[span(number)])],
        )
        for number, name in enumerate(tenants, 1)
    ]
    return ExportTraceServiceRequest(resource_spans=groups).SerializeToString()


def guard(folder: Path) -> TokenGuard:
    """A token that is bound to no tenant, and one of a tenant."""
    (folder / "tokens").write_text("gateway\ntenant=acme of-acme\n")
    return TokenGuard([{Purpose.INGEST: TokenSource(Purpose.INGEST, file=str(folder / "tokens"))}])


@pytest.mark.parametrize(
    ("token", "sent", "stored"),
    [
        ("of-acme", ("", "acme"), ["acme", "acme"]),
        ("of-acme", ("zeta", "", "zeta", "Acme", "acme "), ["acme"]),
        ("gateway", ("", "acme", "zeta"), ["", "acme", "zeta"]),
    ],
)
def test_spans_are_of_the_tokens_tenant(
    tmp_path: Path, token: str, sent: tuple[str, ...], stored: list[str]
) -> None:
    """Those that name none get it; those that name another are rejected, told and counted."""
    queue, metrics = Queue(), ServiceMetrics()
    app = build_app(Intake(queue.offer, guard=guard(tmp_path), metrics=metrics))
    answer = TestClient(app).post(
        "/v1/traces",
        content=body(*sent),
        headers={"content-type": "application/x-protobuf", "authorization": f"Bearer {token}"},
    )
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    rejected = len(sent) - len(stored)

    assert answer.status_code == 200
    taken = [one.resource.get("rt4chart.tenant", "") for spans in queue.offered for one in spans]
    assert taken == stored
    assert partial.rejected_spans == rejected
    assert partial.error_message == (OTHER_TENANT if rejected else "")
    assert metrics.counts(SPANS_REFUSED)[("other_tenant",)] == rejected
