"""The same view of a golden span, from the SDK, over the wire and from the store."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.reading.reader import read_span
from otel_rt4chart.spans.reading.sdk import record_from_readable
from rt4chart_collector.ingest.otlp.decode import decode_spans
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from rt4chart_collector.store.answers.spans import insert_spans, spans_of
from rt4chart_collector.store.engine.connect import Client
from tests.otel_rt4chart.spans.conventions.golden.all import GOLDEN
from tests.otel_rt4chart.spans.conventions.golden.case import Golden, said

IDS = ("traceId", "spanId", "parentSpanId")


def readable(golden: Golden) -> ReadableSpan:
    """The golden span as the SDK makes it: what is evicted has really been there before."""
    kept = SpanLimits(
        max_span_attributes=max(len(golden.attributes), 1), max_events=max(len(golden.events), 1)
    )
    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=kept)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer(golden.scope).start_as_current_span(golden.span) as span:
        for number in range(golden.dropped_attributes):
            span.set_attribute(f"evicted.{number}", 1)
        for number in range(golden.dropped_events):
            span.add_event(f"evicted.{number}")
        for key, value in golden.attributes.items():
            span.set_attribute(key, value)  # type: ignore[arg-type]
        for name, attributes in golden.events:
            span.add_event(name, attributes)  # type: ignore[arg-type]
    (finished,) = exporter.get_finished_spans()
    return finished


def as_hex(value: object) -> object:
    """A request as protobuf writes it in JSON, with its ids as OTLP writes them."""
    if isinstance(value, list):
        return [as_hex(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64decode(one).hex() if key in IDS else as_hex(one)
        for key, one in value.items()
    }


def from_protobuf(span: ReadableSpan) -> SpanRecord:
    """Through the exporter's encoder and our decoder."""
    (found,) = decode_spans(encode_spans([span]).SerializeToString()).spans
    return found


def from_json(span: ReadableSpan) -> SpanRecord:
    """The same message as JSON."""
    message = as_hex(MessageToDict(encode_spans([span])))
    (found,) = decode_json(json.dumps(message).encode()).spans
    return found


@pytest.fixture(scope="module")
def spans() -> dict[str, ReadableSpan]:
    """All golden spans, made by the SDK."""
    return {golden.name: readable(golden) for golden in GOLDEN}


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda one: one.name)
@pytest.mark.parametrize("source", [record_from_readable, from_protobuf, from_json])
def test_a_span_says_the_same_from_the_sdk_and_over_the_wire(
    golden: Golden,
    source: Callable[[ReadableSpan], SpanRecord],
    spans: dict[str, ReadableSpan],
) -> None:
    """The exporter's own encoding, as protobuf and as JSON."""
    assert said(read_span(source(spans[golden.name]))) == golden.expected


def test_a_span_says_the_same_from_the_store(
    any_client: Client, spans: dict[str, ReadableSpan]
) -> None:
    """Where every value is text, and lists and maps are JSON."""
    records = [record_from_readable(span) for span in spans.values()]
    insert_spans(any_client, records)

    stored = {one.trace_id: one for one in spans_of(any_client, [r.trace_id for r in records])}

    found = {
        golden.name: said(read_span(stored[record.trace_id]))
        for golden, record in zip(GOLDEN, records, strict=True)
    }
    assert found == {golden.name: golden.expected for golden in GOLDEN}
