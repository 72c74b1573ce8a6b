"""OTLP requests for the tests, made with OpenTelemetry's own messages."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from otel_rt4chart.core import semconv

MILLISECOND = 1_000_000
SENTENCE = "The trial lasts 14 days. "


def text(value: str) -> AnyValue:
    """A string value."""
    return AnyValue(string_value=value)


def pairs(attributes: Mapping[str, str]) -> list[KeyValue]:
    """String attributes."""
    return [KeyValue(key=key, value=text(value)) for key, value in attributes.items()]


def request(*spans: Span, service: str = "shop", scope: str = "") -> bytes:
    """A request with these spans of one service and one scope."""
    group = ResourceSpans(
        resource=Resource(attributes=pairs({semconv.SERVICE_NAME: service})),
        scope_spans=[ScopeSpans(scope=InstrumentationScope(name=scope), spans=spans)],
    )
    return ExportTraceServiceRequest(resource_spans=[group]).SerializeToString()


def span(number: int = 1, *, start_ns: int = 10**18) -> Span:
    """One span with ids made from the number."""
    return Span(
        trace_id=number.to_bytes(16, "big"),
        span_id=number.to_bytes(8, "big"),
        name="answer",
        start_time_unix_nano=start_ns,
        end_time_unix_nano=start_ns + MILLISECOND,
    )


def rag_trace(number: int, *, start_ns: int, answer: str, route: str = "support") -> list[Span]:
    """A chain with its retriever and its answer, in the order in which they end."""
    trace_id = number.to_bytes(16, "big")
    root, retrieval, generation = ((number * 8 + i).to_bytes(8, "big") for i in range(3))

    def made(span_id: bytes, parent: bytes, offset: int, attributes: Mapping[str, str]) -> Span:
        kind = attributes[semconv.SPAN_KIND].lower()
        return Span(
            trace_id=trace_id,
            span_id=span_id,
            parent_span_id=parent,
            name=kind,
            start_time_unix_nano=start_ns + offset * MILLISECOND,
            end_time_unix_nano=start_ns + (offset + 1 if parent else 10) * MILLISECOND,
            attributes=pairs(attributes),
        )

    document = f"{semconv.RETRIEVAL_DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"
    return [
        made(
            retrieval,
            root,
            1,
            {
                semconv.SPAN_KIND: "RETRIEVER",
                semconv.INPUT_VALUE: "How long is the trial?",
                document: SENTENCE * 5,
                f"{semconv.RETRIEVAL_DOCUMENTS}.0.{semconv.DOCUMENT_ID}": "p1",
            },
        ),
        made(
            generation,
            root,
            3,
            {
                semconv.SPAN_KIND: "LLM",
                f"{semconv.LLM_OUTPUT_MESSAGES}.0.{semconv.MESSAGE_CONTENT}": answer,
                semconv.ROUTE: route,
            },
        ),
        made(
            root,
            b"",
            0,
            {semconv.SPAN_KIND: "CHAIN", semconv.INPUT_VALUE: "How long is the trial?"},
        ),
    ]
