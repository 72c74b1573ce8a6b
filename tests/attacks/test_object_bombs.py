"""Small requests that would become many objects are refused before the first one is built."""

from __future__ import annotations

import json
import random
from collections import Counter

import grpc
import httpx
import pytest
from google.protobuf.message import Message

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.instruments import REQUESTS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.kafka.source import TOO_MANY_OBJECTS, KafkaMessage, decode_message
from rt4chart_collector.ingest.otlp.decode import Request, decode_spans
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from rt4chart_collector.ingest.otlp.intake import BODY_BYTES, Intake
from rt4chart_collector.ingest.otlp.object_budget import (
    COPIED_BYTES,
    FREE_OBJECTS,
    MAX_OBJECTS,
    OBJECTS_PER_SPAN,
    TooManyObjectsError,
    check_json,
    count_messages,
    object_budget,
)
from tests.attacks.bombs import (
    PACKERS,
    SPAN,
    collector_batch,
    collector_batch_json,
    field,
    in_span,
    json_bombs,
    protobuf_bombs,
    recorded_protobuf,
)
from tests.attacks.scale import scaled
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue, unary, ways_in
from tests.rt4chart_collector.otlp.messages import request, span

OBJECTS = scaled(300_000, 5_000_000)
PROTOBUF, JSON = "application/x-protobuf", "application/json"
BOMBS = [
    *((PROTOBUF, name) for name in protobuf_bombs(2)),
    *((JSON, name) for name in json_bombs(2)),
]


def bomb(kind: str, name: str, objects: int = OBJECTS) -> bytes:
    """The request of this name, with fewer objects where it would be too large for its bytes."""
    bombs = protobuf_bombs if kind == PROTOBUF else json_bombs
    each = len(bombs(1_000)[name]) / 1_000
    return bombs(min(objects, int(BODY_BYTES * 0.9 / each)))[name]


@pytest.mark.parametrize(("kind", "name"), BOMBS)
def test_packed_bomb_is_refused_and_others_are_served(kind: str, name: str) -> None:
    """413 with what to change, in each compression; counted by its reason."""
    metrics, queue = ServiceMetrics(), Queue()
    body = bomb(kind, name)
    with ways_in(Intake(queue.offer, metrics=metrics)) as served:
        url = f"{served.url}/v1/traces"
        refused = [
            httpx.post(
                url,
                content=pack(body),
                headers={"content-type": kind, "content-encoding": encoding},
                timeout=60,
            )
            for encoding, pack in PACKERS.items()
        ]
        fine = httpx.post(url, content=request(span()), headers={"content-type": PROTOBUF})

    assert [answer.status_code for answer in refused] == [413, 413]
    assert "expected at most" in refused[0].text
    assert "send smaller batches" in refused[0].text
    assert fine.status_code == 200
    assert +Counter(metrics.counts(REQUESTS)) == {
        ("http", "too_many_objects"): 2,
        ("http", "accepted"): 1,
    }


@pytest.mark.parametrize("name", protobuf_bombs(2))
def test_packed_bomb_over_grpc_is_refused(name: str) -> None:
    """RESOURCE_EXHAUSTED without a time to retry: gRPC hides the size on the network."""
    with ways_in(Intake(Queue().offer)) as served, served.channel() as channel:
        with pytest.raises(grpc.RpcError) as refused:
            unary(channel)(
                bomb(PROTOBUF, name, min(OBJECTS, 1_000_000)),
                timeout=60,
                compression=grpc.Compression.Gzip,
            )
        unary(channel)(request(span()), timeout=60)

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "send smaller batches" in (refused.value.details() or "")


def test_bomb_in_kafka_is_a_dead_letter_with_its_reason() -> None:
    """The client decompresses: its size without repetitions counts."""
    message = KafkaMessage(0, 1, bomb(PROTOBUF, "events"))

    assert decode_message(message) == TOO_MANY_OBJECTS


def test_largest_default_batch_of_a_collector_passes() -> None:
    """8,192 spans of 40 attributes, however well they are compressed."""
    for body, decode in (
        (collector_batch(), decode_spans),
        (collector_batch_json(), decode_json),
    ):
        least = min(len(pack(body)) for pack in PACKERS.values())
        assert len(decode(body, object_budget(least)).spans) == 8_192


def test_default_batch_of_an_sdk_passes_without_any_bytes() -> None:
    """512 spans of 40 attributes are within what a request of one byte may have."""
    assert len(decode_spans(collector_batch(512), object_budget(1)).spans) == 512
    assert len(decode_json(collector_batch_json(512), object_budget(1)).spans) == 512


def test_large_text_is_one_object() -> None:
    """Whatever its bytes look like on the wire or in JSON."""
    looks_like_tags, looks_like_values = b"\x0a\x12" * 1_000_000, "{[,\\\"'" * 400_000
    body = in_span(field(5, looks_like_tags))
    text = json.dumps({"unknown": looks_like_values}).encode()

    assert len(decode_spans(body, FREE_OBJECTS).spans) == 1
    assert decode_json(text, FREE_OBJECTS).spans == ()


def test_scalars_cannot_make_the_count_take_long() -> None:
    """A body of many unknown numbers is refused although it has no object."""
    numbers = b"\xf8\x06\x01" * FREE_OBJECTS * 5
    body = numbers + field(1000, b"\x0a" * FREE_OBJECTS * 2)

    with pytest.raises(TooManyObjectsError):
        decode_spans(body, FREE_OBJECTS)


def test_resource_that_all_spans_copy_is_limited() -> None:
    """Each span is stored with it: a megabyte and a thousand spans are a gigabyte."""
    size, spans = 1_000_000, COPIED_BYTES // 1_000_000 + 1
    resource = field(1, field(1, b"k") + field(2, field(1, b"x" * size)))
    body = field(1, field(1, resource) + field(2, field(2, SPAN) * spans))
    pair = {"key": "k", "value": {"stringValue": "x" * size}}
    one = {"traceId": "1" * 32, "spanId": "1" * 16, "startTimeUnixNano": str(10**18)}
    group = {"resource": {"attributes": [pair]}, "scopeSpans": [{"spans": [one] * spans}]}

    with pytest.raises(TooManyObjectsError, match="resource and scope"):
        decode_spans(body)
    with pytest.raises(TooManyObjectsError, match="resource and scope"):
        decode_json(json.dumps({"resourceSpans": [group]}).encode())


def test_queue_counts_what_the_copies_take() -> None:
    """Not the body alone, which has the resource once."""
    offered: list[int] = []
    queue = Queue()

    def offer(spans: object, size_bytes: int) -> object:
        offered.append(size_bytes)
        return queue.offer(spans, size_bytes)  # type: ignore[arg-type]

    resource = field(1, field(1, b"k") + field(2, field(1, b"x" * 1_000)))
    body = field(1, field(1, resource) + field(2, field(2, SPAN) * 100))
    with ways_in(Intake(offer)) as served:  # type: ignore[arg-type]
        httpx.post(f"{served.url}/v1/traces", content=body, headers={"content-type": PROTOBUF})

    assert len(offered) == 1
    assert offered[0] > len(body) + 100 * 1_000


def test_limits_fit_together() -> None:
    """Spans are weighed so that a full Collector batch fits the least that it compresses to."""
    objects = 8_192 * (2 * 40 + 2 + OBJECTS_PER_SPAN)

    assert objects < object_budget(100_000) <= MAX_OBJECTS


def built_messages(message: Message) -> int:
    """How many messages and repeated texts the parser made below this one."""
    found = 0
    for declared, value in message.ListFields():
        if declared.is_repeated:
            found += len(value)
            if declared.message_type is not None:
                found += sum(map(built_messages, value))
        elif declared.message_type is not None:
            found += 1 + built_messages(value)
    return found


def test_count_is_never_below_what_the_parser_builds() -> None:
    """For real requests and for broken ones; a merged message may be counted twice."""
    chance = random.Random(16)  # noqa: S311 - must be the same each time
    exact = 0
    for body in recorded_protobuf():
        assert count_messages(body, 10**9) == built_messages(Request.FromString(body))
        for _ in range(scaled(20, 2_000)):
            broken = bytearray(body)
            for _ in range(chance.randint(1, 4)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            try:
                parsed = Request.FromString(bytes(broken))
            except Exception:  # noqa: BLE001, S112 - the parser built nothing that stays
                continue
            exact += 1
            assert count_messages(bytes(broken), 10**9) >= built_messages(parsed)
    assert exact > 0


@pytest.mark.parametrize("name", json_bombs(2))
def test_small_forms_of_the_bombs_are_no_bombs(name: str) -> None:
    """Within the budget nothing is refused for its number of objects."""
    body = json_bombs(1_000)[name]

    check_json(body, FREE_OBJECTS)
    if name != "broken at the end":
        assert decode_json(body, FREE_OBJECTS).spans is not None
    else:
        with pytest.raises(InputError, match=r"got .* bytes of something else"):
            decode_json(body, FREE_OBJECTS)
