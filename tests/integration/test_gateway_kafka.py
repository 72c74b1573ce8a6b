"""The gateway's Kafka exporter with the file of deploy/, on a real broker, down to the verdicts."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from rt4chart_collector.ingest.otlp.decode import decode_spans
from tests.integration.otelcol import (
    AGENT,
    GATEWAY,
    GATEWAY_ENVIRON,
    Ports,
    collector,
    needed,
    some_ports,
)
from tests.integration.service import PATIENCE_S, service
from tests.integration.sink import sink
from tests.integration.test_collector import Sender, Sent, agent_environ

pytestmark = pytest.mark.e2e
pytest.importorskip("confluent_kafka", reason="pip install 'otel-rt4chart[kafka]'")

from confluent_kafka import Consumer  # noqa: E402

from tests.integration.kafka import Kafka, kafka  # noqa: E402
from tests.integration.kafka_workers import GROUP, TOPIC, counts, wait_counts, workers  # noqa: E402

# The store that is not here: all spans go to a server of the test.
BEHIND = """
exporters:
  otlp_http/all: {{endpoint: {url}/all, compression: gzip}}
service:
  pipelines:
    traces/all: {{exporters: [otlp_http/all]}}
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker with the topic and that of its dead letters."""
    needed()
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        running.create(TOPIC, f"{TOPIC}.dlq")
        yield running


@pytest.fixture
def agent(broker: Kafka, tmp_path: Path) -> Iterator[Ports]:
    """Where an application sends: an agent, behind it a gateway, behind that the broker."""
    gateway, ports = some_ports(), some_ports()
    with sink() as behind:
        (tmp_path / "behind.yaml").write_text(BEHIND.format(url=behind.url))
        environ = {
            **GATEWAY_ENVIRON,
            "KAFKA_BROKERS": broker.address,
            "OTELCOL_QUEUE": str(tmp_path / "gateway"),
        }
        with (
            collector(gateway, environ, GATEWAY, tmp_path / "behind.yaml"),
            collector(ports, agent_environ(gateway.grpc, tmp_path / "agent"), AGENT),
        ):
            yield ports


def messages(broker: Kafka, wanted: Sent) -> list[tuple[bytes, Sent, int]]:
    """Key, spans and partition of the messages, once all these spans are among them."""
    own = {"group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": broker.address, **own})
    consumer.subscribe([TOPIC])
    found: list[tuple[bytes, Sent, int]] = []
    until = time.monotonic() + PATIENCE_S
    while not wanted <= {one for _, spans, _ in found for one in spans}:
        assert time.monotonic() < until, found
        message = consumer.poll(0.2)
        if message is None or message.error() is not None:
            continue
        decoded = decode_spans(message.value() or b"").spans
        spans = {(one.trace_id, one.span_id) for one in decoded}
        found.append((message.key() or b"", spans, message.partition() or 0))
    consumer.close()
    return found


def test_message_holds_one_trace_and_its_id_is_the_key(broker: Kafka, agent: Ports) -> None:
    """Read by our decoder; all messages of a trace are in one partition."""
    sender = Sender(agent)
    for _ in range(4):
        sender.send()
    assert len(sender.acknowledged) == 60

    found = messages(broker, sender.acknowledged)

    places: dict[bytes, set[int]] = {}
    for key, spans, partition in found:
        assert {trace for trace, _ in spans} == {key.decode()}
        places.setdefault(key, set()).add(partition)
    assert {len(partitions) for partitions in places.values()} == {1}
    assert len({one for partitions in places.values() for one in partitions}) > 1


def test_answers_are_verified_by_workers_behind_the_gateway(
    broker: Kafka, agent: Ports, tmp_path: Path
) -> None:
    """The whole path: the SDK, an agent, the gateway, Kafka, two workers, a verdict an answer."""
    dsn = f"chdb://{tmp_path / 'db'}"
    sender = Sender(agent)
    with service(dsn), workers(2, dsn, broker, tmp_path) as running:
        for _ in range(10):
            sender.send()
        # Those of the test before are in the topic, too.
        wait_counts(dsn, 70, running)
        broker.wait_committed(TOPIC, GROUP)
        found = counts(dsn)

    assert len(sender.acknowledged) == 150
    assert (found.verified, found.answers, found.rollup) == (70, 70, 70)
