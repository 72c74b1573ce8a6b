"""Decodes ExportTraceServiceRequest from OTLP's JSON into the same spans, equally lenient.

Source: OTLP specification, "JSON Protobuf Encoding": ids are hex, enums are numbers, 64-bit
numbers are text, names are in lowerCamelCase, and unknown ones are ignored. Names of enums,
snake_case as in protobuf's own JSON mapping, and numbers for 64-bit numbers are accepted too.
"""

from __future__ import annotations

import binascii
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.record import AttributeValue, SpanEvent, SpanLink, SpanRecord
from rt4chart_collector.ingest.otlp.decode import (
    KINDS,
    LAST_NS,
    STATUSES,
    Decoded,
    collect_decoded,
    find_fault,
)
from rt4chart_collector.ingest.otlp.object_budget import budget_of_unpacked, check_json, check_spans

Json = Mapping[str, object]
# The recursion limit of protobuf's own parsers.
MAX_DEPTH = 100
SHOWN = 80


def decode_json(body: bytes, budget: int | None = None) -> Decoded:
    """Decode the spans of a request; invalid UTF-8 and half surrogate pairs become U+FFFD.

    `budget` limits its objects; without one, the body's own size after compression does. Raises
    InputError if the bytes are not an ExportTraceServiceRequest, TooManyObjectsError beyond the
    budget.
    """
    budget = budget_of_unpacked(body) if budget is None else budget
    check_json(body, budget)
    try:
        request = json.loads(body.decode("utf-8-sig", "replace") or "{}")
        groups = _maps(_a_map(request), "resourceSpans")
        copied = check_spans(_span_counts(groups), budget)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "expected an ExportTraceServiceRequest in JSON, "
            f"got {len(body)} bytes of something else: {str(error)[:SHOWN]}"
        ) from error
    if not isinstance(request, dict):
        raise InputError("expected an ExportTraceServiceRequest, a JSON object")
    return collect_decoded([span for group in groups for span in _spans_of(group)], copied)


def _span_counts(groups: Sequence[Json]) -> Iterator[tuple[int, int]]:
    for group in groups:
        resource_bytes = _text_bytes(_map(group, "resource"))
        for scoped in _maps(group, "scopeSpans"):
            spans = _field(scoped, "spans")
            number = len(spans) if isinstance(spans, list) else 0
            yield number, resource_bytes + _text_bytes(_map(scoped, "scope"))


def _text_bytes(value: object) -> int:
    """The length of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_text_bytes, value)) if isinstance(value, list) else 0


def _spans_of(group: Json) -> Iterator[SpanRecord | str]:
    resource = _attributes(_map(group, "resource"))
    for scoped in _maps(group, "scopeSpans"):
        scope = _map(scoped, "scope")
        name, version = _text(scope, "name"), _text(scope, "version")
        for span in _maps(scoped, "spans"):
            yield _span(span, resource, name, version)


def _span(
    span: Json, resource: Mapping[str, AttributeValue], scope: str, version: str
) -> SpanRecord | str:
    trace_id, span_id = _id(span, "traceId"), _id(span, "spanId")
    start = _integer(span, "startTimeUnixNano")
    if fault := find_fault(trace_id, span_id, start):
        return fault
    status = _map(span, "status")
    return SpanRecord(
        trace_id=trace_id.hex(),
        span_id=span_id.hex(),
        name=_text(span, "name"),
        start_ns=start,
        end_ns=max(start, min(_integer(span, "endTimeUnixNano"), LAST_NS)),
        parent_span_id=_id(span, "parentSpanId").hex(),
        kind=_named(KINDS, _field(span, "kind"), "SPAN_KIND_"),
        status=_named(STATUSES, _field(status, "code"), "STATUS_CODE_"),
        status_message=_text(status, "message"),
        trace_state=_text(span, "traceState"),
        attributes=_attributes(span),
        events=tuple(map(_event, _maps(span, "events"))),
        links=tuple(map(_link, _maps(span, "links"))),
        resource=resource,
        scope_name=scope,
        scope_version=version,
        dropped_attributes=_count(span, "droppedAttributesCount"),
        dropped_events=_count(span, "droppedEventsCount"),
    )


def _event(event: Json) -> SpanEvent:
    time_ns = max(0, min(_integer(event, "timeUnixNano"), LAST_NS))
    return SpanEvent(_text(event, "name"), time_ns, _attributes(event))


def _link(link: Json) -> SpanLink:
    trace_id, span_id = _id(link, "traceId").hex(), _id(link, "spanId").hex()
    return SpanLink(trace_id, span_id, _attributes(link), _text(link, "traceState"))


def _attributes(
    holder: Json, name: str = "attributes", depth: int = 0
) -> dict[str, AttributeValue]:
    return {_text(pair, "key"): _value(_map(pair, "value"), depth) for pair in _maps(holder, name)}


def _value(value: Json, depth: int) -> AttributeValue:
    """An AnyValue; bytes stay the base64 text that they are."""
    if depth > MAX_DEPTH:
        return ""
    if (array := _field(value, "arrayValue")) is not None:
        return tuple(_value(item, depth + 1) for item in _maps(_a_map(array), "values"))
    if (pairs := _field(value, "kvlistValue")) is not None:
        return _attributes(_a_map(pairs), "values", depth + 1)
    if isinstance(flag := _field(value, "boolValue"), bool):
        return flag
    if _field(value, "intValue") is not None:
        return _integer(value, "intValue")
    if (number := _field(value, "doubleValue")) is not None:
        return _double(number)
    return _text(value, "stringValue") or _text(value, "bytesValue")


def _field(holder: Json, name: str) -> object:
    """A field by its name in lowerCamelCase, else by that in the .proto."""
    return holder[name] if name in holder else holder.get(_snake_case(name))


@cache
def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _map(holder: Json, name: str) -> Json:
    return _a_map(_field(holder, name))


def _a_map(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _maps(holder: Json, name: str) -> list[Json]:
    """The items of a list; an item that is not an object becomes an empty one, and is counted."""
    found = _field(holder, name)
    return [_a_map(item) for item in found] if isinstance(found, list) else []


def _text(holder: Json, name: str) -> str:
    value = _field(holder, name)
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _id(holder: Json, name: str) -> bytes:
    """The bytes of an id; empty if it is not hex."""
    value = _field(holder, name)
    try:
        return binascii.unhexlify(value) if isinstance(value, str) else b""
    except ValueError:
        return b""


def _integer(holder: Json, name: str) -> int:
    value = _field(holder, name)
    try:
        return int(value) if isinstance(value, str | int | float) else 0
    except (ValueError, OverflowError):
        return 0


def _count(holder: Json, name: str) -> int:
    return max(0, _integer(holder, name))


def _double(value: object) -> float:
    try:
        return float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def _named(names: tuple[str, ...], value: object, prefix: str) -> str:
    if isinstance(value, str) and value.startswith(prefix):
        name = value.removeprefix(prefix).capitalize()
        return name if name in names else names[0]
    number = _integer({"number": value}, "number")
    return names[number] if 0 <= number < len(names) else names[0]
