"""Decoding: OpenTelemetry's messages to span records, and what is no message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    InstrumentationScope,
    KeyValue,
    KeyValueList,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.record import SpanEvent, SpanLink, SpanRecord
from rt4chart_collector.ingest.otlp.decode import Decoded, decode_spans
from tests.rt4chart_collector.otlp.messages import pairs, request, span, text

START = 1_790_000_000_000_000_001


def test_every_field_of_a_span_is_read() -> None:
    """Ids in hex, kinds and statuses by name, times in nanoseconds, nothing lost."""
    message = Span(
        trace_id=bytes(range(16)),
        span_id=bytes(range(1, 9)),
        parent_span_id=b"\xff" * 8,
        trace_state="k=v",
        name="answer",
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=START,
        end_time_unix_nano=START + 5,
        attributes=pairs({"output.value": "שלום 🙂"}),
        dropped_attributes_count=2,
        dropped_events_count=1,
        status=Status(code=Status.STATUS_CODE_ERROR, message="no"),
        events=[Span.Event(name="e", time_unix_nano=START + 1, attributes=pairs({"a": "b"}))],
        links=[Span.Link(trace_id=b"\x01" * 16, span_id=b"\x02" * 8, trace_state="s")],
    )
    group = ResourceSpans(
        resource=Resource(attributes=pairs({"service.name": "shop"})),
        scope_spans=[
            ScopeSpans(scope=InstrumentationScope(name="n", version="1"), spans=[message])
        ],
    )

    decoded = decode_spans(ExportTraceServiceRequest(resource_spans=[group]).SerializeToString())

    assert decoded == Decoded(
        (
            SpanRecord(
                trace_id="000102030405060708090a0b0c0d0e0f",
                span_id="0102030405060708",
                name="answer",
                start_ns=START,
                end_ns=START + 5,
                parent_span_id="f" * 16,
                kind="Client",
                status="Error",
                status_message="no",
                trace_state="k=v",
                attributes={"output.value": "שלום 🙂"},
                events=(SpanEvent("e", START + 1, {"a": "b"}),),
                links=(SpanLink("01" * 16, "02" * 8, {}, "s"),),
                resource={"service.name": "shop"},
                scope_name="n",
                scope_version="1",
                dropped_attributes=2,
                dropped_events=1,
            ),
        )
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (text("x"), "x"),
        (AnyValue(bool_value=False), False),
        (AnyValue(int_value=-(2**63)), -(2**63)),
        (AnyValue(double_value=0.5), 0.5),
        (AnyValue(bytes_value=b"\x00\xff"), "AP8="),
        (AnyValue(), ""),
        (
            AnyValue(array_value=ArrayValue(values=[text("a"), AnyValue(bool_value=True)])),
            ("a", True),
        ),
        (
            AnyValue(kvlist_value=KeyValueList(values=[KeyValue(key="k", value=text("v"))])),
            {"k": "v"},
        ),
    ],
    ids=["string", "bool", "int", "double", "bytes", "empty", "array", "kvlist"],
)
def test_every_kind_of_value_is_read(value: AnyValue, expected: object) -> None:
    """Arrays become tuples, maps mappings, bytes base64 text."""
    message = span()
    message.attributes.append(KeyValue(key="k", value=value))

    (decoded,) = decode_spans(request(message)).spans

    assert decoded.attributes == {"k": expected}


def test_invalid_utf8_costs_a_character_not_the_batch() -> None:
    """A broken byte inside a string becomes U+FFFD; the other spans are untouched."""
    broken, whole = span(1), span(2)
    broken.name, whole.name = "na?me", "fine"
    body = request(broken, whole).replace(b"na?me", b"na\xffme")

    assert [s.name for s in decode_spans(body).spans] == ["na�me", "fine"]


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("trace_id", b"short", "trace id must be 16 bytes"),
        ("trace_id", bytes(16), "trace id must be 16 bytes"),
        ("span_id", b"", "span id must be 8 bytes"),
        ("start_time_unix_nano", 0, "start time"),
        ("start_time_unix_nano", 2**64 - 1, "start time"),
    ],
)
def test_span_that_cannot_be_stored_is_rejected_alone(
    field: str, value: object, reason: str
) -> None:
    """Its neighbours go on, and the answer says how many were refused and why."""
    bad = span(1)
    setattr(bad, field, value)

    decoded = decode_spans(request(bad, span(2)))

    assert (len(decoded.spans), decoded.rejected) == (1, 1)
    assert reason in decoded.reason


def test_end_before_start_and_unknown_numbers_are_made_good() -> None:
    """Odd but storable: no negative duration, unknown kinds unspecified."""
    odd = span()
    odd.end_time_unix_nano = 3
    odd.kind = 99  # type: ignore[assignment]

    (decoded,) = decode_spans(request(odd)).spans

    assert (decoded.end_ns, decoded.kind) == (decoded.start_ns, "Unspecified")


def test_empty_request_has_no_spans() -> None:
    """Nothing in, nothing out."""
    assert decode_spans(b"") == Decoded(())


def test_bytes_that_are_no_request_are_an_input_error() -> None:
    """The message says what was expected."""
    with pytest.raises(InputError, match=r"expected an ExportTraceServiceRequest .* got 9 bytes"):
        decode_spans(b"not proto")


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_an_input_error(body: bytes) -> None:
    """Whatever a stranger sends, nothing else is raised."""
    try:
        decoded = decode_spans(body)
    except InputError:
        return
    assert all(s.trace_id and s.span_id for s in decoded.spans)
