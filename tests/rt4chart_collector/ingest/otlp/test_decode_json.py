"""Decoding OTLP's JSON: the same records as from protobuf, and the same leniency."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.record import SpanEvent, SpanLink, SpanRecord
from rt4chart_collector.ingest.otlp.decode import Decoded
from rt4chart_collector.ingest.otlp.decode_json import decode_json

START = 1_790_000_000_000_000_001
IDS = {"traceId": "0A" * 16, "spanId": "0b" * 8, "startTimeUnixNano": str(START)}


def body(*spans: object) -> bytes:
    """A request with these spans."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def one(**more: object) -> SpanRecord:
    """The record of a span with these fields."""
    (found,) = decode_json(body({**IDS, **more})).spans
    return found


def pair(value: object) -> list[object]:
    """An attribute `k` with this AnyValue."""
    return [{"key": "k", "value": value}]


def test_every_field_of_a_span_is_read() -> None:
    """Ids in hex, enums by number, 64-bit numbers as text; unknown fields are ignored."""
    span = {
        **IDS,
        "parentSpanId": "ff" * 8,
        "traceState": "k=v",
        "name": "answer",
        "kind": 3,
        "endTimeUnixNano": str(START + 5),
        "attributes": [{"key": "output.value", "value": {"stringValue": "שלום 🙂"}}],
        "droppedAttributesCount": 2,
        "droppedEventsCount": 1,
        "status": {"code": 2, "message": "no"},
        "events": [{"name": "e", "timeUnixNano": str(START + 1),
                    "attributes": pair({"boolValue": True})}],
        "links": [{"traceId": "01" * 16, "spanId": "02" * 8, "traceState": "s"}],
        "flags": 257,
        "later": {"unknown": []},
    }  # fmt: skip
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    scoped = [{"scope": {"name": "n", "version": "1"}, "spans": [span]}]
    group = {"resource": service, "scopeSpans": scoped}

    assert decode_json(json.dumps({"resourceSpans": [group]}).encode()) == Decoded(
        (
            SpanRecord(
                trace_id="0a" * 16,
                span_id="0b" * 8,
                name="answer",
                start_ns=START,
                end_ns=START + 5,
                parent_span_id="f" * 16,
                kind="Client",
                status="Error",
                status_message="no",
                trace_state="k=v",
                attributes={"output.value": "שלום 🙂"},
                events=(SpanEvent("e", START + 1, {"k": True}),),
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
        ({"stringValue": "x"}, "x"),
        ({"boolValue": False}, False),
        ({"intValue": str(-(2**63))}, -(2**63)),
        ({"intValue": 3}, 3),
        ({"doubleValue": 0.5}, 0.5),
        ({"doubleValue": "Infinity"}, math.inf),
        ({"bytesValue": "AP8="}, "AP8="),
        ({}, ""),
        (None, ""),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {"boolValue": True}]}}, ("a", True)),
        ({"arrayValue": {}}, ()),
        ({"kvlistValue": {"values": pair({"stringValue": "v"})}}, {"k": "v"}),
        ({"stringValue": "\ud800x"}, "\ufffdx"),
    ],
)
def test_every_kind_of_value_is_read(value: object, expected: object) -> None:
    """As from protobuf; a value that is missing is the empty text."""
    assert one(attributes=pair(value)).attributes == {"k": expected}


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "SPAN_KIND_CLIENT", "status": {"code": "STATUS_CODE_ERROR"}},
        {"kind": 3, "status": {"code": 2}},
        {"kind": "3", "status": {"code": "2"}},
    ],
)
def test_enums_are_read_by_number_and_by_name(fields: Mapping[str, object]) -> None:
    """OTLP's JSON has numbers, protobuf's own mapping names."""
    found = one(**fields)

    assert (found.kind, found.status) == ("Client", "Error")


def test_names_of_the_proto_are_taken_too() -> None:
    """As protobuf's own JSON mapping takes them."""
    span = {"trace_id": "0a" * 16, "span_id": "0b" * 8, "start_time_unix_nano": START}

    (found,) = decode_json(
        json.dumps({"resource_spans": [{"scope_spans": [{"spans": [span]}]}]}).encode()
    ).spans

    assert found.start_ns == START


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("traceId", "short", "trace id must be 16 bytes"),
        ("traceId", "0" * 32, "trace id must be 16 bytes"),
        ("spanId", None, "span id must be 8 bytes"),
        ("startTimeUnixNano", "soon", "start time"),
        ("startTimeUnixNano", str(2**64 - 1), "start time"),
    ],
)
def test_span_that_cannot_be_stored_is_rejected_alone(
    field: str, value: object, reason: str
) -> None:
    """Its neighbours go on; one that is no object is one of them."""
    decoded = decode_json(body({**IDS, field: value}, IDS, "no span"))

    assert (len(decoded.spans), decoded.rejected) == (1, 2)
    assert reason in decoded.reason


def test_odd_fields_are_made_good() -> None:
    """No negative duration, counts or times; what has another type counts as missing."""
    found = one(endTimeUnixNano="3", kind=99, name=5, droppedEventsCount=-1, events=["x"], links={})

    assert (found.end_ns, found.kind, found.name) == (START, "Unspecified", "")
    assert (found.dropped_events, found.events, found.links) == (0, (SpanEvent("", 0),), ())


def test_what_is_nested_too_deeply_ends_there() -> None:
    """As protobuf's parsers do, without taking the request down."""
    value: object = {"stringValue": "x"}
    for _ in range(150):
        value = {"arrayValue": {"values": [value]}}

    found, levels = one(attributes=pair(value)).attributes["k"], 0
    while isinstance(found, tuple):
        (found,) = found
        levels += 1
    assert (levels, found) == (101, "")


@pytest.mark.parametrize("given", [b"not json", b"[]", b"[" * 100_000, b"1" * 5000])
def test_bytes_that_are_no_request_are_an_input_error(given: bytes) -> None:
    """The message says what was expected."""
    with pytest.raises(InputError, match="expected an ExportTraceServiceRequest"):
        decode_json(given)


def test_empty_request_has_no_spans() -> None:
    """Nothing in, nothing out."""
    assert decode_json(b"") == decode_json(b"{}") == Decoded(())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
NAMES = ("traceId", "name", "kind", "status", "attributes", "events", "links", "endTimeUnixNano")


@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_any_json_decodes(fields: Mapping[str, object]) -> None:
    """Whatever a stranger writes into a span, nothing is raised."""
    decoded = decode_json(body({**IDS, **fields}))

    assert len(decoded.spans) + decoded.rejected == 1
