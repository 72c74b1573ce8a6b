"""A real Kafka broker for the tests: one process in KRaft mode, on a port of its own."""

from __future__ import annotations

import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.integration.kafka_jars import jars

Headers = dict[str, str | bytes | None]
PATIENCE_S = 90
HEAP = "-Xmx512m"
LOGGING = """
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %c{1}: %m%n
"""
# Whoever comes without a name may do everything, `worker` too, `guest` nothing.
PASSWORD = "not-to-be-logged"  # noqa: S105 - a test's
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={listeners}
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=\\
  org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_worker="{password}" user_guest="{password}";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:worker
controller.listener.names=CONTROLLER
listener.security.protocol.map=\\
  PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
message.max.bytes=16777216
"""


class Broker:
    """A broker's process; it may be stopped and started, its data and port stay."""

    def __init__(self, folder: Path, host: str) -> None:
        self._folder, self._host = folder, host
        self._log = folder / "broker.log"
        self.port, self.sasl_port, controller = free_port(), free_port(), free_port()
        self.address = f"{host}:{self.port}"
        given = PROPERTIES.format(
            listeners=f"PLAINTEXT://{self.address},SASL_PLAINTEXT://{host}:{self.sasl_port}",
            controller=controller,
            folder=folder,
            password=PASSWORD,
        )
        (folder / "server.properties").write_text(given)
        (folder / "log4j2.properties").write_text(LOGGING)
        self._process: subprocess.Popen[bytes] | None = None
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # With "=": an id may begin with a dash, which would be read as an option of its own.
        options = (f"--cluster-id={cluster}", f"--config={folder / 'server.properties'}")
        self._java("kafka.tools.StorageTool", "format", "--standalone", *options).wait(PATIENCE_S)

    def start(self) -> None:
        """Start, and wait until it answers."""
        self._process = self._java("kafka.Kafka", str(self._folder / "server.properties"))
        until = time.monotonic() + PATIENCE_S
        while not is_open(self.port, self._host):
            assert self._process.poll() is None, self.log
            assert time.monotonic() < until, self.log
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE_S)

    @property
    def log(self) -> str:
        """The end of what it said."""
        return self._log.read_text(errors="replace")[-4000:]

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        classpath = ":".join(map(str, jars()))
        logging = f"-Dlog4j2.configurationFile={self._folder / 'log4j2.properties'}"
        with self._log.open("ab") as out:
            return subprocess.Popen(
                ["java", HEAP, logging, "-cp", classpath, *command], stdout=out, stderr=out
            )


class Kafka:
    """A broker and what tests ask of it."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.address = broker.address
        self._connection: dict[str, str | int | float | bool] = {
            "bootstrap.servers": broker.address
        }
        self._admin = AdminClient(self._connection)
        self._producer = Producer({**self._connection, "partitioner": "murmur2_random"})

    def create(self, *topics: str, partitions: int = 4) -> None:
        """New topics."""
        made = self._admin.create_topics([NewTopic(one, partitions, 1) for one in topics])
        for future in made.values():
            future.result(PATIENCE_S)

    def topics(self) -> set[str]:
        """What there is."""
        return set(self._admin.list_topics(timeout=PATIENCE_S).topics)

    def delete(self, *topics: str) -> None:
        """Without these topics, once they are gone."""
        for future in self._admin.delete_topics(list(topics)).values():
            future.result(PATIENCE_S)
        until = time.monotonic() + PATIENCE_S
        while self.topics() & set(topics):
            assert time.monotonic() < until, self.broker.log
            time.sleep(0.1)

    def forget(self, group: str) -> None:
        """Without this group's positions, where it has any and nobody is in it."""
        for future in self._admin.delete_consumer_groups([group]).values():
            with suppress(KafkaException):
                future.result(PATIENCE_S)

    def send(self, topic: str, value: bytes, key: bytes | None = None, partition: int = -1) -> None:
        """Hand a message over; `flush` waits for it."""
        self._producer.produce(topic, value, key, partition)
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until all that was sent is written."""
        assert self._producer.flush(PATIENCE_S) == 0, self.broker.log

    def read(self, topic: str, number: int) -> Sequence[tuple[bytes, Headers]]:
        """The first messages of a topic, with their headers."""
        own = {"group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
        consumer = Consumer({**self._connection, **own})
        consumer.subscribe([topic])
        found: list[tuple[bytes, Headers]] = []
        until = time.monotonic() + PATIENCE_S
        while len(found) < number:
            assert time.monotonic() < until, (found, self.broker.log)
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                found.append((message.value() or b"", _headers(message)))
        consumer.close()
        return found

    def committed(self, topic: str, group: str) -> dict[int, int]:
        """What a group has committed, by partition."""
        asked = [ConsumerGroupTopicPartitions(group)]
        (future,) = self._admin.list_consumer_group_offsets(asked).values()
        places = future.result(PATIENCE_S).topic_partitions
        return {one.partition: one.offset for one in places if one.topic == topic}

    def ends(self, topic: str) -> dict[int, int]:
        """The offset behind each partition's last message."""
        consumer = Consumer({**self._connection, "group.id": "none"})
        numbers = consumer.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
        found = {
            one: consumer.get_watermark_offsets(TopicPartition(topic, one), PATIENCE_S)[1]
            for one in numbers
        }
        consumer.close()
        return found

    def wait_committed(self, topic: str, group: str, *, seconds: float = PATIENCE_S) -> None:
        """Until the group has committed all there is."""
        until = time.monotonic() + seconds
        while True:
            with suppress(Exception):
                ends = {one: end for one, end in self.ends(topic).items() if end}
                found = self.committed(topic, group)
                if {one: found.get(one) for one in ends} == ends:
                    return
            assert time.monotonic() < until, (found, ends, self.broker.log)
            time.sleep(0.5)


@contextmanager
def kafka(folder: Path, host: str = "127.0.0.1") -> Iterator[Kafka]:
    """A running broker that listens on an address of this machine."""
    broker = Broker(folder, host)
    broker.start()
    try:
        yield Kafka(broker)
    finally:
        broker.stop()


def _headers(message: Message) -> Headers:
    given = message.headers() or {}
    return dict(given) if isinstance(given, list) else given


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_open(port: int, host: str = "127.0.0.1") -> bool:
    """Whether something takes connections there."""
    with suppress(OSError), socket.create_connection((host, port), 1):
        return True
    return False
