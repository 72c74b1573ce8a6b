"""An application that answers in conversations: a trace for each turn, all of one session."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.otlp.decode import decode_spans

RETURNS = "Cameras can be returned within 30 days of purchase."
SHIPPING = "Return shipping is free for members."


def turn(
    question: str,
    passage: str,
    answer: str,
    *,
    session: str = "chat-7",
    key: str = "session.id",
    service: str = "shop",
) -> tuple[SpanRecord, ...]:
    """One request of a conversation, as the service receives it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": service}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer, kind = provider.get_tracer("shop"), "openinference.span.kind"
    root = {kind: "CHAIN", key: session, "input.value": question, "output.value": answer}
    found = {
        kind: "RETRIEVER",
        "retrieval.documents.0.document.id": "kb-1",
        "retrieval.documents.0.document.content": passage,
    }
    with tracer.start_as_current_span("chat", attributes={**root, "rt4chart.route": "chat"}):
        with tracer.start_as_current_span("search", attributes=found):
            pass
        with tracer.start_as_current_span("answer", attributes={kind: "LLM"}) as span:
            span.set_attribute("output.value", answer)
    return decode_spans(encode_spans(exporter.get_finished_spans()).SerializeToString()).spans
