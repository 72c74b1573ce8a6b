"""Mutated requests of real applications: each is decoded or refused, and never anything else."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.otlp.decode import LAST_NS, decode_spans
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from rt4chart_collector.ingest.otlp.decompress import decompress
from rt4chart_collector.ingest.otlp.refusal import RefusedError
from tests.attacks.bombs import (
    JSON_SPAN,
    PACKERS,
    field,
    in_span,
    in_value,
    recorded,
    recorded_protobuf,
    varint,
)
from tests.attacks.scale import scaled

# Numbers that parsers get wrong: signs, sizes, ends of ranges.
NUMBERS = (0, 1, 127, 128, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
TOKENS = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"NaN", b"-Infinity", b"1e999"),
    *(b"\\ud800", b"\\u0000", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"9" * 5_000),
    *(b'"traceId":', b'"spans":', b'"attributes":', b'"kvlistValue":', b'{"values":'),
)
EXAMPLES = settings(
    max_examples=scaled(100, 20_000),
    suppress_health_check=list(HealthCheck),
    derandomize=scaled(True, False),
)


def decoded(body: bytes, *, is_json: bool) -> Sequence[SpanRecord] | None:
    """The spans of a request, None for one that is refused; any other end fails the test."""
    try:
        return (decode_json if is_json else decode_spans)(body).spans
    except InputError:
        return None


def unfit(body: bytes, *, is_json: bool) -> list[SpanRecord]:
    """The spans of a request that could not be stored; none of one that is refused."""
    return [span for span in decoded(body, is_json=is_json) or () if not is_storable(span)]


def is_storable(span: SpanRecord) -> bool:
    """True for ids and times in their ranges and texts that can be encoded."""
    texts = (span.name, span.status_message, span.trace_state, *span.attributes)
    has_ids = (len(span.trace_id), len(span.span_id)) == (32, 16)
    has_times = 0 < span.start_ns <= span.end_ns <= LAST_NS
    return has_ids and has_times and not any(map(has_surrogate, texts))


def has_surrogate(text: str) -> bool:
    """True for a text that UTF-8 cannot encode."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def mutated(body: bytes, chance: random.Random, tokens: tuple[bytes, ...]) -> bytes:
    """The body with a few changes: bytes, tokens, numbers, parts cut out or repeated."""
    found = bytearray(body)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(found) + 1)
        end = min(len(found), at + chance.choice((1, 1, 2, 8, 64, 1_000)))
        match chance.randrange(6):
            case 0:
                found[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
            case 1:
                del found[at:end]
            case 2:
                found[at:at] = found[at:end] * chance.choice((1, 2, 50))
            case 3:
                found[at:at] = chance.choice(tokens)
            case 4:
                found[at : at + 1] = varint(chance.choice(NUMBERS))
            case _:
                del found[at:]
    return bytes(found)


@pytest.mark.parametrize("is_json", [True, False], ids=["json", "protobuf"])
def test_mutated_real_requests_are_decoded_or_refused(is_json: bool) -> None:
    """From each recorded request, the same mutations each time."""
    chance = random.Random(16)  # noqa: S311 - must be the same each time
    corpus = recorded() if is_json else recorded_protobuf()
    refused = [body for body in corpus if decoded(body, is_json=is_json) is None]
    results: Counter[bool] = Counter()
    broken: list[SpanRecord] = []
    for body in corpus:
        for _ in range(scaled(10, 2_000)):
            changed = mutated(body, chance, TOKENS)
            results[decoded(changed, is_json=is_json) is None] += 1
            broken += unfit(changed, is_json=is_json)

    assert (refused, broken) == ([], [])
    assert results.keys() == {True, False}


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["1" * 32, "1" * 16, str(10**18), str(2**64), "-1", "0x1", "\ud800", "9" * 4_000]
    ),
)
NAMES = st.sampled_from(
    (
        *("resourceSpans", "resource", "scopeSpans", "scope", "spans", "attributes", "key"),
        *("value", "stringValue", "intValue", "doubleValue", "boolValue", "arrayValue", "values"),
        *("kvlistValue", "bytesValue", "traceId", "spanId", "parentSpanId", "startTimeUnixNano"),
        *("endTimeUnixNano", "kind", "status", "code", "events", "links", "name", "timeUnixNano"),
        *("resource_spans", "scope_spans", "droppedAttributesCount"),
    )
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=6)),
    max_leaves=40,
)


@EXAMPLES
@given(DOCUMENTS, st.sampled_from(["resourceSpans", "scopeSpans", "spans", "attributes", "value"]))
def test_known_names_with_any_values_are_decoded_or_refused(document: object, place: str) -> None:
    """At each depth of a request, where the decoder expects another type."""
    span: dict[str, object] = json.loads(JSON_SPAN)
    frames = {
        "resourceSpans": {"resourceSpans": document},
        "scopeSpans": {"resourceSpans": [{"resource": document, "scopeSpans": document}]},
        "spans": {"resourceSpans": [{"scopeSpans": [{"scope": document, "spans": document}]}]},
    }
    fields = {"attributes": document, "events": document, "links": document, "status": document}
    pair = {"attributes": [{"key": "a", "value": document}]}
    inner = fields if place == "attributes" else pair
    framed = frames.get(place, {"resourceSpans": [{"scopeSpans": [{"spans": [span | inner]}]}]})

    assert unfit(json.dumps(framed).encode(), is_json=True) == []


WIRE = st.recursive(
    st.binary(max_size=12),
    lambda inner: st.lists(st.tuples(st.integers(1, 16), inner), max_size=5).map(
        lambda parts: b"".join(field(number, part) for number, part in parts)
    ),
    max_leaves=30,
)


@EXAMPLES
@given(WIRE)
def test_nested_fields_of_any_number_are_decoded_or_refused(content: bytes) -> None:
    """As a request, in a span, and in a value."""
    bodies = (content, in_span(content), in_value(content))

    assert [span for body in bodies for span in unfit(body, is_json=False)] == []


def deep() -> Iterator[tuple[bytes, bool]]:
    """Requests as deep as a parser's stack, or deeper."""
    for depth in (50, 99, 101, 1_000, 100_000):
        yield b'{"resourceSpans":' + b"[" * depth + b"]" * depth + b"}", True
        yield b"[" * depth, True
        yield b'{"a":' * depth, True
    for depth in (20, 30, 60, 1_000):
        value = b""
        for _ in range(depth):
            value = field(5, field(1, value))
        yield in_value(value), False
        yield b"\xfb\x06" * depth + b"\xfc\x06" * depth, False
        yield b"\xfb\x06" * depth, False


def test_depth_is_limited_and_never_ends_the_process() -> None:
    """Deep requests are refused by the parsers' own limits."""
    results = {(is_json, decoded(body, is_json=is_json) is not None) for body, is_json in deep()}

    assert results == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize(
    "value",
    [
        b"9" * 1_000_000,
        b"0." + b"9" * 1_000_000,
        b"1e" + b"9" * 1_000,
        b'"' + b"9" * 1_000_000 + b'"',
        b'"' + b"\\u0041" * 100_000 + b'"',
    ],
    ids=["integer", "fraction", "exponent", "text of digits", "escapes"],
)
@pytest.mark.parametrize("name", [b"startTimeUnixNano", b"kind", b"droppedAttributesCount"])
def test_numbers_of_any_length_are_decoded_or_refused(name: bytes, value: bytes) -> None:
    """Python's conversion of a long number takes quadratic time; it refuses those itself."""
    span = JSON_SPAN[:-1] + b',"%s":%s}' % (name, value)

    body = b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}' % span
    assert unfit(body, is_json=True) == []


def test_keys_that_are_sent_again_replace_the_first() -> None:
    """A million of them become one attribute."""
    again = field(9, field(1, b"a") + field(2, field(1, b"b"))) * scaled(10_000, 400_000)

    (span,) = decode_spans(in_span(again), 10**9).spans

    assert span.attributes == {"a": "b"}


@pytest.mark.parametrize("encoding", PACKERS)
def test_mutated_packed_requests_are_unpacked_or_refused(encoding: str) -> None:
    """Broken checksums, sizes and frames."""
    chance = random.Random(16)  # noqa: S311 - must be the same each time
    bodies = [PACKERS[encoding](body) for body in recorded()[:10]]
    results: set[bool] = set()
    for body in bodies:
        for _ in range(scaled(50, 5_000)):
            try:
                decompress(mutated(body, chance, TOKENS), encoding, 2**20)
                results.add(True)
            except (InputError, RefusedError):
                results.add(False)

    assert False in results
