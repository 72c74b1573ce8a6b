"""Decodes ExportTraceServiceRequest into span records. Pure, and tolerant of invalid UTF-8."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.record import (
    Attributes,
    AttributeValue,
    SpanEvent,
    SpanLink,
    SpanRecord,
)
from rt4chart_collector.ingest.otlp.object_budget import (
    budget_of_unpacked,
    check_protobuf,
    check_spans,
)


def lenient_request() -> type[ExportTraceServiceRequest]:
    """ExportTraceServiceRequest with `bytes` for `string`: the two are the same on the wire.

    A parser must reject a whole message for one invalid string
    (protobuf.dev/programming-guides/proto3, "Scalar Value Types"); this one rejects none. The
    type says str where the values are bytes; `_text` and `_attributes` decode them.
    """
    pool = DescriptorPool()
    for module in (common_pb2, resource_pb2, trace_pb2, trace_service_pb2):
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            _read_as_bytes(message)
        pool.Add(file)
    name = ExportTraceServiceRequest.DESCRIPTOR.full_name
    lenient = GetMessageClass(pool.FindMessageTypeByName(name))
    return cast("type[ExportTraceServiceRequest]", lenient)


def _read_as_bytes(message: DescriptorProto) -> None:
    for declared in message.field:
        if declared.type == FieldDescriptorProto.TYPE_STRING:
            declared.type = FieldDescriptorProto.TYPE_BYTES
    for nested in message.nested_type:
        _read_as_bytes(nested)


Request = lenient_request()
_keys: dict[bytes, str] = {}
# opentelemetry-proto, trace/v1/trace.proto: Span.SpanKind and Status.StatusCode.
KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
STATUSES = ("Unset", "Ok", "Error")
# DateTime64(9) ends in 2262, the DateTime of the exporter's side table in 2106.
LAST_NS = 4_294_967_295 * 10**9
# The cache of attribute names: its size, and the longest name in it. Applications use few names; a
# client that invents new ones must not fill the memory.
KEYS, KEY_BYTES = 4096, 128


class _Text(Protocol):
    """An AnyValue of the lenient messages, as far as it is a text."""

    @property
    def string_value(self) -> bytes: ...


class _Pair(Protocol):
    """A KeyValue of the lenient messages."""

    @property
    def key(self) -> bytes: ...

    @property
    def value(self) -> _Text: ...


@dataclass(frozen=True, slots=True)
class Decoded:
    """The spans of a request; `rejected` counts the spans without a valid id or time.

    `copied_bytes` is what the spans take beyond the body, because each is stored with its resource.
    """

    spans: tuple[SpanRecord, ...]
    rejected: int = 0
    reason: str = ""
    copied_bytes: int = field(default=0, compare=False)

    def with_rejected(self, number: int, reason: str) -> Decoded:
        """The same with more rejected spans, whose reason is added."""
        if not number:
            return self
        reasons = "; ".join(filter(None, (self.reason, reason)))
        return replace(self, rejected=self.rejected + number, reason=reasons)


def decode_spans(body: bytes, budget: int | None = None) -> Decoded:
    """Decode the spans of a request; invalid UTF-8 inside strings becomes U+FFFD.

    `budget` limits its objects; without one, the body's own size after compression does. Raises
    InputError if the bytes are not an ExportTraceServiceRequest, TooManyObjectsError beyond the
    budget.
    """
    budget = budget_of_unpacked(body) if budget is None else budget
    check_protobuf(body, budget)
    try:
        request = Request.FromString(body)
    except DecodeError as error:
        raise InputError(
            "expected an ExportTraceServiceRequest in protobuf encoding, "
            f"got {len(body)} bytes of something else: {error}"
        ) from error
    copied = check_spans(_span_counts(request), budget)
    return collect_decoded(
        [span for group in request.resource_spans for span in _spans_of(group)], copied
    )


def _span_counts(request: ExportTraceServiceRequest) -> Iterator[tuple[int, int]]:
    for group in request.resource_spans:
        resource_bytes = group.resource.ByteSize()
        for scoped in group.scope_spans:
            yield len(scoped.spans), resource_bytes + scoped.scope.ByteSize()


def collect_decoded(found: Sequence[SpanRecord | str], copied_bytes: int) -> Decoded:
    """Separate the spans from the reasons, which replace spans that cannot be stored."""
    reasons = sorted({item for item in found if type(item) is str})
    if not reasons:
        spans = cast("tuple[SpanRecord, ...]", tuple(found))
    else:
        spans = tuple(span for span in found if isinstance(span, SpanRecord))
    return Decoded(spans, len(found) - len(spans), "; ".join(reasons), copied_bytes)


def find_fault(trace_id: bytes, span_id: bytes, start_ns: int) -> str:
    """The reason why a span cannot be stored; empty if it can."""
    if len(trace_id) != 16 or not any(trace_id):
        return "a trace id must be 16 bytes, not all zero"
    if len(span_id) != 8 or not any(span_id):
        return "a span id must be 8 bytes, not all zero"
    if not 0 < start_ns <= LAST_NS:
        return "a start time must lie between 1970 and 2106"
    return ""


def _spans_of(message: ResourceSpans) -> Iterator[SpanRecord | str]:
    resource = _attributes(message.resource.attributes)
    for group in message.scope_spans:
        scope, version = _text(group.scope.name), _text(group.scope.version)
        for span in group.spans:
            fault = find_fault(span.trace_id, span.span_id, span.start_time_unix_nano)
            yield fault or _span(span, resource, scope, version)


def _span(span: Span, resource: Attributes, scope: str, version: str) -> SpanRecord:
    start = span.start_time_unix_nano
    status, events, links = span.status, span.events, span.links
    return SpanRecord(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        name=_text(span.name),
        start_ns=start,
        end_ns=max(start, min(span.end_time_unix_nano, LAST_NS)),
        parent_span_id=span.parent_span_id.hex(),
        kind=_named(KINDS, span.kind),
        status=_named(STATUSES, status.code),
        status_message=_text(status.message),
        trace_state=_text(span.trace_state),
        attributes=_attributes(span.attributes),
        events=tuple(map(_event, events)) if events else (),
        links=tuple(map(_link, links)) if links else (),
        resource=resource,
        scope_name=scope,
        scope_version=version,
        dropped_attributes=span.dropped_attributes_count,
        dropped_events=span.dropped_events_count,
    )


def _event(event: Span.Event) -> SpanEvent:
    time_ns = min(event.time_unix_nano, LAST_NS)
    return SpanEvent(_text(event.name), time_ns, _attributes(event.attributes))


def _link(link: Span.Link) -> SpanLink:
    attributes, state = _attributes(link.attributes), _text(link.trace_state)
    return SpanLink(link.trace_id.hex(), link.span_id.hex(), attributes, state)


def _attributes(pairs: Iterable[KeyValue]) -> Mapping[str, AttributeValue]:
    # Most of the time of a request is spent here, so a text, the usual value, takes no call.
    found: dict[str, AttributeValue] = {}
    for pair in cast("Iterable[_Pair]", pairs):
        key, value = pair.key, pair.value
        text = value.string_value
        found[_keys.get(key) or _key(key)] = (
            text.decode("utf-8", "replace") if text else _value(cast("AnyValue", value))
        )
    return found


def _key(key: bytes) -> str:
    """The name of an attribute as text, cached for the next request."""
    text = key.decode("utf-8", "replace")
    if len(_keys) < KEYS and len(key) <= KEY_BYTES:
        _keys[key] = text
    return text


def _value(value: AnyValue) -> AttributeValue:
    """An AnyValue; bytes become base64 text, as the exporter writes them."""
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return _text(value.string_value)
    if kind == "array_value":
        return tuple(map(_value, value.array_value.values))
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    if kind in ("bool_value", "int_value", "double_value"):
        scalar: AttributeValue = getattr(value, kind)
        return scalar
    return ""


def _text(value: str) -> str:
    # The generated types say str; in the lenient messages it is bytes.
    return cast("bytes", value).decode("utf-8", "replace") if value else ""


def _named(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else names[0]
