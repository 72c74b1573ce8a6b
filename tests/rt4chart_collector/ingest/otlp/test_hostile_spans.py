"""Spans as no careful application sends them: each is stored, and decided on once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_rt4chart.core import semconv
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from rt4chart_collector.ingest.otlp.decode import Decoded, decode_spans
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.otlp.messages import MILLISECOND, rag_trace, request, text
from tests.rt4chart_collector.pipeline.line import GOOD, Line
from tests.rt4chart_collector.records import NOON, SECOND

DAY = 86_400 * SECOND
YEAR = 365 * DAY
VERIFIED = {("verified", "entailed"): 1}


@pytest.fixture
def line(client: Client) -> Line:
    """The service from the open traces on, with the quickest judge."""
    return Line(client, Verifier(RulesJudge()))


def stored(client: Client) -> int:
    """How many of the application's spans lie in the store."""
    found = client.query(
        "SELECT uniqExact(TraceId, SpanId) FROM otel_traces WHERE ScopeName != 'otel_rt4chart'"
    )
    return int(found.result_rows[0][0])


def trace(start_ns: int = NOON, number: int = 1) -> list[Span]:
    """A retrieval, an answer that it supports, and their root."""
    return rag_trace(number, start_ns=start_ns, answer=GOOD)


@pytest.mark.parametrize("skew_ns", [DAY, -DAY, YEAR // 2, -YEAR, -10 * YEAR])
def test_clock_of_another_machine_may_be_wrong(client: Client, line: Line, skew_ns: int) -> None:
    """Three spans sent, three stored, one decision, whatever the time they claim."""
    decoded = decode_spans(request(*trace(NOON + skew_ns)))

    line.take(decoded.spans)

    assert (len(decoded.spans), decoded.rejected) == (3, 0)
    assert (stored(client), line.decisions()) == (3, VERIFIED)


def test_each_span_of_a_trace_may_have_a_clock_of_its_own(client: Client, line: Line) -> None:
    """A root of tomorrow, a retrieval of last year and an answer that ends before it starts."""
    retrieval, answer, root = trace()
    retrieval.start_time_unix_nano -= YEAR
    retrieval.end_time_unix_nano -= YEAR
    root.start_time_unix_nano += DAY
    root.end_time_unix_nano += DAY
    answer.end_time_unix_nano = answer.start_time_unix_nano - DAY

    line.take(decode_spans(request(retrieval, answer, root)).spans)

    assert (stored(client), line.decisions()) == (3, VERIFIED)


def test_span_without_a_time_costs_itself_alone(client: Client, line: Line) -> None:
    """Of three with 1970, 2200 and a usable start, one is stored and two are told."""
    first, second, third = trace()
    first.start_time_unix_nano = 0
    second.start_time_unix_nano = 2**63

    decoded = decode_spans(request(first, second, third))
    line.take(decoded.spans)

    assert (decoded.rejected, stored(client)) == (2, 1)


@pytest.mark.parametrize("start_ns", [1, 10**18], ids=["1970", "2001"])
def test_answer_older_than_the_retention_costs_no_other(
    client: Client, line: Line, start_ns: int
) -> None:
    """Its rows may go at once, by the time that they claim; the one beside it is decided."""
    old, new = trace(start_ns, number=1), trace(number=2)

    line.take(decode_spans(request(*old, *new)).spans)

    found = client.query(
        "SELECT count() FROM rt4chart_verifications FINAL WHERE TraceId = {id:String}",
        {"id": new[0].trace_id.hex()},
    )
    assert found.result_rows == [(1,)]
    assert line.status()["failures"] == {}


def array(value: AnyValue) -> AnyValue:
    """A list with that value alone."""
    return AnyValue(array_value=ArrayValue(values=[value]))


def nested(depth: int) -> AnyValue:
    """A list in a list in a list."""
    value = text("deep")
    for _ in range(depth):
        value = array(value)
    return value


def scalar(number: float) -> AnyValue:
    """A number."""
    return AnyValue(double_value=number)


POISON: dict[str, Callable[[Span], object]] = {
    "8 MiB of one attribute": lambda span: span.attributes.add(key="x", value=text("é" * 2**22)),
    "not a number": lambda span: span.attributes.add(key="x", value=scalar(math.nan)),
    "infinity": lambda span: span.attributes.add(key="x", value=scalar(-math.inf)),
    "infinity in a list": lambda span: span.attributes.add(key="x", value=array(scalar(math.inf))),
    "zeros": lambda span: span.attributes.add(key="x\0y", value=text("\0" * 1000)),
    "empty key": lambda span: span.attributes.add(key="", value=text("nothing")),
    "no value": lambda span: span.attributes.add(key="x"),
    "30 lists deep": lambda span: span.attributes.add(key="x", value=nested(30)),
    "20,000 attributes": lambda span: span.attributes.extend(
        KeyValue(key=f"k{number}", value=text("v")) for number in range(20_000)
    ),
    "the same key 1,000 times": lambda span: span.attributes.extend(
        KeyValue(key="x", value=text(str(number))) for number in range(1_000)
    ),
    "5,000 events": lambda span: span.events.extend(
        Span.Event(name="e", time_unix_nano=2**64 - 1) for _ in range(5_000)
    ),
    "its own parent": lambda span: setattr(span, "parent_span_id", span.span_id),
    "ids of links that are none": lambda span: span.links.add(trace_id=b"x", span_id=b""),
    "a name of 1 MiB": lambda span: setattr(span, "name", "n" * 2**20),
    "every document without content": lambda span: span.attributes.extend(
        KeyValue(key=f"{semconv.RETRIEVAL_DOCUMENTS}.{number}.document.id", value=text("d"))
        for number in (1, 999_999_999, -1)
    ),
}


@pytest.mark.parametrize("poison", POISON.values(), ids=POISON)
def test_poison_in_one_trace_stops_no_other(
    client: Client, line: Line, poison: Callable[[Span], object]
) -> None:
    """Six spans in one request, the worst in the answer of one trace: six stored, two decisions."""
    bad, good = trace(number=1), trace(number=2)
    poison(bad[1])

    line.take(decode_spans(request(*bad, *good)).spans)

    assert (stored(client), sum(line.decisions().values())) == (6, 2)
    assert line.status()["failures"] == {}


def test_bytes_that_are_no_text_are_stored_with_their_answer(client: Client, line: Line) -> None:
    """Invalid UTF-8 in names, keys and values of each of three spans costs none of them."""
    mark = "qqqq"
    spans = trace()
    for span in spans:
        span.name += mark
        span.attributes.add(key=f"k{mark}", value=text(f"v{mark}"))
    body = request(*spans).replace(mark.encode(), b"\xff\xfe\xed\xa0")

    line.take(decode_spans(body).spans)

    assert (stored(client), line.decisions()) == (3, VERIFIED)


def test_more_nesting_than_protobuf_reads_is_told_as_malformed() -> None:
    """In protobuf an error of the input, in JSON a value that ends there."""
    depth = 5_000
    found = "[" * depth + "]" * depth
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "startTimeUnixNano": "1"}
    value = '{"arrayValue":{"values":[' * depth + "{}" + "]}}" * depth
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    deep = body.replace('"1"}', f'"1","attributes":[{{"key":"x","value":{value}}}]}}')

    for given in (found, deep):
        assert told_or_read(given.encode())


def told_or_read(body: bytes) -> bool:
    """True where a body is read, or is refused with the one error that the client is told."""
    try:
        return isinstance(decode_json(body), Decoded)
    except InputError:
        return True


def test_answer_with_ten_thousand_passages_of_one_byte_is_decided(
    client: Client, line: Line
) -> None:
    """All of them are read, and the answer has its one decision."""
    retrieval, answer, root = trace()
    del retrieval.attributes[2:]
    retrieval.attributes.extend(
        KeyValue(
            key=f"{semconv.RETRIEVAL_DOCUMENTS}.{number}.{semconv.DOCUMENT_CONTENT}",
            value=text("x"),
        )
        for number in range(10_000)
    )

    line.take(decode_spans(request(retrieval, answer, root)).spans)

    assert (stored(client), sum(line.decisions().values())) == (3, 1)


def test_trace_of_two_thousand_spans_has_one_decision(client: Client, line: Line) -> None:
    """They come in ten requests, with the answer among them."""
    spans = trace()
    root = spans[-1]
    tools = [
        Span(
            trace_id=root.trace_id,
            span_id=(10_000 + number).to_bytes(8, "big"),
            parent_span_id=root.span_id,
            name="tool",
            start_time_unix_nano=NOON + number * MILLISECOND,
            end_time_unix_nano=NOON + number * MILLISECOND,
        )
        for number in range(1_997)
    ]
    spans[1:1] = tools
    for at in range(0, len(spans), 200):
        line._accept(decode_spans(request(*spans[at : at + 200])).spans)
    line.after(0)

    assert (stored(client), line.decisions()) == (2_000, VERIFIED)


@pytest.mark.parametrize("again_after", [0, 3])
def test_request_that_comes_again_counts_once(client: Client, line: Line, again_after: int) -> None:
    """At once, or after other inserts: five deliveries, one answer, one in the sums."""
    body = request(*trace())
    for _ in range(5):
        line.take(decode_spans(body).spans)
        line.send(*range(100, 100 + again_after))

    answers = 1 + again_after
    sums = client.query("SELECT sum(Answers), sum(Claims) FROM rt4chart_route_1m").result_rows
    assert (stored(client), sum(line.decisions().values())) == (3 * answers, answers)
    assert sums == [(answers, answers)]


def test_more_attributes_than_anyone_reads_are_read() -> None:
    """A hundred thousand on a span: a request like another."""
    message = ExportTraceServiceRequest()
    span = message.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.start_time_unix_nano = b"1" * 16, b"2" * 8, NOON
    span.attributes.extend(KeyValue(key=f"k{number}", value=text("v")) for number in range(100_000))

    assert len(decode_spans(message.SerializeToString()).spans[0].attributes) == 100_000
