"""Requests of few bytes that would become many objects, and the corpus of real requests."""

from __future__ import annotations

import base64
import gzip
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RECORDED = Path(__file__).parents[1] / "recorded/spans"
PACKERS: Mapping[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}
IDS = b'"traceId":"' + b"1" * 32 + b'","spanId":"' + b"1" * 16 + b'"'
JSON_SPAN = b"{" + IDS + b',"startTimeUnixNano":"1000000000000000000"}'


def field(number: int, content: bytes) -> bytes:
    """A field of the wire format whose content has a length."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    """A number in the wire format."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


SPAN = field(1, b"1" * 16) + field(2, b"2" * 8) + b"\x39" + (10**18).to_bytes(8, "little")


def in_span(content: bytes) -> bytes:
    """A request with one span that has this content beside its ids."""
    return field(1, field(2, field(2, SPAN + content)))


def in_value(content: bytes) -> bytes:
    """A request with one span that has one attribute with this AnyValue."""
    return in_span(field(9, field(1, b"a") + field(2, content)))


def protobuf_bombs(objects: int) -> Mapping[str, bytes]:
    """Requests with so many objects each, of every kind."""
    empty = {number: field(number, b"") for number in (1, 2, 3, 9, 11, 13)}
    return {
        "resources": empty[1] * objects,
        "overlong tags": b"\x8a\x00\x00" * objects,
        "scopes": field(1, empty[2] * objects),
        "resources merged": field(1, empty[1] * objects),
        "entity keys": field(1, field(1, field(3, empty[3] * objects))),
        "spans without ids": field(1, field(2, empty[2] * objects)),
        "spans": field(1, field(2, field(2, SPAN) * objects)),
        "attributes": in_span(empty[9] * objects),
        "events": in_span(empty[11] * objects),
        "links": in_span(empty[13] * objects),
        "array": in_value(field(5, empty[1] * objects)),
        "array of maps": in_value(field(5, field(1, field(6, b"")) * (objects // 2))),
        "map": in_value(field(6, empty[1] * objects)),
        "after a group": b"\xfb\x06\x0a\x02\xff\xff\xfc\x06" + empty[1] * objects,
    }


def json_bombs(objects: int) -> Mapping[str, bytes]:
    """The same in JSON, and values that only JSON has."""
    wrapped = {
        "resources": b'{"resourceSpans":[%s]}',
        "scopes": b'{"resourceSpans":[{"scopeSpans":[%s]}]}',
        "spans without ids": b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}',
        "unknown field": b'{"unknown":[%s]}',
    }
    empties = b",".join([b"{}"] * objects)
    found = {name: frame % empties for name, frame in wrapped.items()}
    spans = b",".join([JSON_SPAN] * objects)
    inner = JSON_SPAN[:-1] + b',"events":[%s]}' % b",".join([b"0"] * objects * 2)
    frame = wrapped["spans without ids"]
    return {
        **found,
        "spans": frame % spans,
        "events that are numbers": frame % inner,
        "texts": b'{"unknown":[%s]}' % b",".join([b'""'] * objects * 2),
        "lists": b'{"unknown":[%s]}' % b",".join([b"[[]]"] * objects),
        "after an escaped quote": b'{"a":"\\\\\\"","unknown":[%s]}' % empties,
        "broken at the end": b'{"resourceSpans":[%s' % empties,
    }


def _ids(number: int) -> tuple[bytes, bytes]:
    """Ids that a compressor finds no pattern in."""
    trace = (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128).to_bytes(16, "big")
    return trace, (number * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8, "big")


def collector_batch(spans: int = 8_192, attributes: int = 40) -> bytes:
    """What the Collector's batch processor sends at most by default, in protobuf."""
    pairs = b"".join(
        field(9, field(1, f"key.{at}".encode()) + field(2, field(1, f"value {at}".encode())))
        for at in range(attributes)
    )
    start = b"\x39" + (10**18).to_bytes(8, "little")
    found = (
        field(2, field(1, trace_id) + field(2, span_id) + start + pairs)
        for trace_id, span_id in map(_ids, range(1, spans + 1))
    )
    return field(1, field(2, b"".join(found)))


def collector_batch_json(spans: int = 8_192, attributes: int = 40) -> bytes:
    """The same in OTLP's JSON."""
    pairs = json.dumps(
        [{"key": f"key.{at}", "value": {"stringValue": f"value {at}"}} for at in range(attributes)]
    )
    found = (
        f'{{"traceId":"{trace_id.hex()}","spanId":"{span_id.hex()}",'
        f'"startTimeUnixNano":"{10**18}","attributes":{pairs}}}'
        for trace_id, span_id in map(_ids, range(1, spans + 1))
    )
    return f'{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{",".join(found)}]}}]}}]}}'.encode()


def recorded() -> list[bytes]:
    """The recorded requests of real applications, in JSON."""
    return [path.read_bytes() for path in sorted(RECORDED.glob("*.json"))]


def recorded_protobuf() -> list[bytes]:
    """The same in protobuf."""
    return [
        ParseDict(
            _with_base64_ids(json.loads(body)),
            ExportTraceServiceRequest(),
            ignore_unknown_fields=True,
        ).SerializeToString()
        for body in recorded()
    ]


def _with_base64_ids(value: Any) -> Any:  # noqa: ANN401 - of json
    """OTLP writes ids in hexadecimal, protobuf's own JSON in base64."""
    if isinstance(value, list):
        return [_with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64.b64encode(bytes.fromhex(item)).decode()
        if name in ("traceId", "spanId", "parentSpanId")
        else _with_base64_ids(item)
        for name, item in value.items()
    }
