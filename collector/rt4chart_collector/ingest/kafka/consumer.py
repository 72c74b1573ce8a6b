"""Kafka as a source of spans; the only file that uses its client, confluent_kafka."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Collection, Mapping, Sequence

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka import Message as Received

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.core.settings_parsers import KafkaAddress
from rt4chart_collector.ingest.kafka.source import KafkaMessage, RebalanceListener, SourceError

METADATA_TIMEOUT_S = 15.0
DEAD_LETTER_TIMEOUT_S = 10.0
REPEAT_S = 60.0
DEFAULT_PROPERTIES: Mapping[str, str | int | bool] = {
    "client.id": "rt4chart",
    "auto.offset.reset": "earliest",
    # The client's prefetch buffer, in memory beside the open and waiting traces.
    "queued.max.messages.kbytes": 32_768,
}
FIXED_PROPERTIES: Mapping[str, str | int | bool] = {
    # Offsets are committed after the decisions are stored. The client would commit what was only
    # read, and a crash would lose the answers in between.
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "partition.assignment.strategy": "cooperative-sticky",
    "allow.auto.create.topics": False,
}
PRODUCER_PROPERTIES: Mapping[str, str | int | bool] = {
    "acks": "all",
    "message.timeout.ms": round(DEAD_LETTER_TIMEOUT_S * 1000),
    "message.max.bytes": 2**28,
}
SECRET = re.compile(r"password|secret|\.pem$|sasl\.oauthbearer\.config|sasl\.username|\.key$")
ADVICE = {
    KafkaError.UNKNOWN_TOPIC_OR_PART: "expected an existing topic; create it, or name the one that "
    "the Collector's Kafka exporter writes (traces: topic)",
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "expected permission to read and describe the topic; "
    "give this user READ on it",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "expected permission to use the consumer group; give "
    "this user READ on it",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "expected permission for this on the cluster",
    KafkaError.SASL_AUTHENTICATION_FAILED: "expected user and password that the broker knows; see "
    "RT4CHART_KAFKA_SASL_USERNAME and _PASSWORD, or RT4CHART_KAFKA_CONFIG",
    KafkaError._AUTHENTICATION: "expected credentials that the broker accepts; see "
    "RT4CHART_KAFKA_SECURITY_PROTOCOL, _SASL_MECHANISM, _SASL_USERNAME and _SASL_PASSWORD",
    KafkaError._SSL: "expected a broker with TLS and a certificate of a known authority; "
    "see RT4CHART_KAFKA_SECURITY_PROTOCOL and _SSL_CA_LOCATION",
    KafkaError._RESOLVE: "expected a broker name that can be resolved",
}
NO_BROKER = "expected a Kafka broker there; start it, or name another"
# Errors that waiting does not fix: the worker ends instead of polling for ever.
PERMANENT_ERRORS = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError._FATAL,
}
log = logging.getLogger(__name__)
# librdkafka's own log lines repeat what `error_cb` reports, and more often.
librdkafka = logging.getLogger(f"{__name__}.librdkafka")
librdkafka.setLevel(logging.CRITICAL)


class KafkaSource:
    """One member of a consumer group on one topic; for one thread.

    Positions are committed only by `commit`, never by the client itself.
    """

    def __init__(self, address: KafkaAddress, properties: Mapping[str, str]) -> None:
        """Connect; `properties` are librdkafka's.

        Raises SettingsError for an unknown property, if no broker answers, and if the topic does
        not exist or may not be read.
        """
        self._address = address
        self._secrets = [v for name, v in properties.items() if SECRET.search(name) and v]
        self._logged_at: dict[int, float] = {}
        self._cause: KafkaError | None = None
        self._connection = {
            **properties,
            "bootstrap.servers": address.brokers,
            "error_cb": self._note_error,
        }
        self._producer: Producer | None = None
        group = {"group.id": address.group, "on_commit": self._note_commit, **FIXED_PROPERTIES}
        try:
            self._consumer = Consumer(
                {**DEFAULT_PROPERTIES, **self._connection, **group}, logger=librdkafka
            )
        except KafkaException as error:
            raise SettingsError(
                "RT4CHART_KAFKA_*: expected librdkafka's properties; got one that it refuses: "
                f"{self._shown(error.args[0])}"
            ) from None
        try:
            self.partitions = self._partition_count()
        except SettingsError:
            self._consumer.close()
            raise

    def subscribe(self, listener: RebalanceListener) -> None:
        """Join the group."""

        def assigned(_: object, partitions: list[TopicPartition]) -> None:
            listener.assigned({partition.partition for partition in partitions})

        def revoked(_: object, partitions: list[TopicPartition]) -> None:
            self.commit(
                listener.revoked({partition.partition for partition in partitions}), wait=True
            )

        def lost(_: object, partitions: list[TopicPartition]) -> None:
            listener.lost({partition.partition for partition in partitions})

        self._consumer.subscribe(
            [self._address.topic], on_assign=assigned, on_revoke=revoked, on_lost=lost
        )

    def poll(self, limit: int, timeout_s: float) -> Sequence[KafkaMessage]:
        """The next messages; SourceError if no later call would return any."""
        found: list[KafkaMessage] = []
        for received in self._consumer.consume(limit, timeout_s):
            if (error := received.error()) is not None:
                self._raise_if_permanent(error)
                continue
            message = _message(received)
            if message is not None:
                found.append(message)
        return found

    def commit(self, positions: Mapping[int, int], *, wait: bool = False) -> None:
        """Commit; a failure is logged, and the messages are read again after a restart."""
        if not positions:
            return
        offsets = [
            self._topic_partition(partition, offset) for partition, offset in positions.items()
        ]
        try:
            if wait:
                self._consumer.commit(offsets=offsets, asynchronous=False)
            else:
                self._consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            self._note_commit(error.args[0], offsets)

    def pause(self, partitions: Collection[int]) -> None:
        """Stop fetching these partitions."""
        self._consumer.pause([self._topic_partition(partition) for partition in partitions])

    def resume(self, partitions: Collection[int]) -> None:
        """Fetch these partitions again."""
        self._consumer.resume([self._topic_partition(partition) for partition in partitions])

    def end_offsets(self, partitions: Collection[int]) -> Mapping[int, int]:
        """The offsets as of the last fetch; the broker is not asked."""
        found: dict[int, int] = {}
        for partition in partitions:
            _, end = self._consumer.get_watermark_offsets(
                self._topic_partition(partition), cached=True
            )
            if end >= 0:
                found[partition] = end
        return found

    def send_dead_letter(self, message: KafkaMessage, reason: str) -> None:
        """Write the message to the topic for dead letters, and wait for the acknowledgement."""
        topic = self._address.dead_letters
        # Replaced by the delivery report; `flush` returns without one if time runs out.
        failures = [SourceError("no answer in time")]

        def delivered(error: KafkaError | None, _: object) -> None:
            failures[:] = [] if error is None else [SourceError(self._shown(error))]

        try:
            if self._producer is None:
                properties = {**self._connection, **PRODUCER_PROPERTIES}
                self._producer = Producer(properties, logger=librdkafka)
            self._producer.produce(
                topic,
                value=message.body,
                key=message.key,
                headers={
                    "rt4chart.reason": reason.encode(),
                    "rt4chart.topic": self._address.topic.encode(),
                    "rt4chart.partition": str(message.partition).encode(),
                    "rt4chart.offset": str(message.offset).encode(),
                },
                on_delivery=delivered,
            )
            self._producer.flush(DEAD_LETTER_TIMEOUT_S + 1)
        except KafkaException as error:
            failures[:] = [SourceError(self._shown(error.args[0]))]
        except BufferError as error:
            failures[:] = [SourceError(type(error).__name__)]
        if failures:
            raise SourceError(
                f"{topic}: expected to write an unreadable message; {failures[0]}; create the "
                "topic, and allow this user to WRITE to it"
            )

    def close(self) -> None:
        """Leave the group, without a commit."""
        self._consumer.close()

    def _partition_count(self) -> int:
        """The number of the topic's partitions; SettingsError if the broker does not say."""
        where = f"RT4CHART_SOURCE: {self._address.brokers}"
        try:
            topics = self._consumer.list_topics(
                self._address.topic, timeout=METADATA_TIMEOUT_S
            ).topics
        except KafkaException as error:
            # `error` is only a timeout. Polling calls `error_cb`, which gets the cause.
            self._consumer.poll(0)
            cause = self._cause or error.args[0]
            advice = ADVICE.get(cause.code(), NO_BROKER)
            raise SettingsError(
                f"{where}: no usable answer: {self._shown(cause)}; {advice}"
            ) from None
        topic = topics[self._address.topic]
        if topic.error is not None:
            advice = ADVICE.get(topic.error.code(), "expected a topic that can be read")
            raise SettingsError(
                f"{where}, topic {self._address.topic}: {self._shown(topic.error)}; {advice}"
            )
        return len(topic.partitions)

    def _topic_partition(self, partition: int, offset: int = OFFSET_INVALID) -> TopicPartition:
        return TopicPartition(self._address.topic, partition, offset)

    def _raise_if_permanent(self, error: KafkaError) -> None:
        if error.code() == KafkaError._PARTITION_EOF:
            return
        if error.code() in PERMANENT_ERRORS or error.fatal():
            advice = ADVICE.get(error.code(), "start the worker again")
            raise SourceError(f"{self._address}: {self._shown(error)}; {advice}")
        self._note_error(error)

    def _note_error(self, error: KafkaError) -> None:
        """Keep the most specific error, and log each kind at most once a minute."""
        code = error.code()
        # These two only say that there is no connection, not why.
        if code not in (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT) or not self._cause:
            self._cause = error
        now = time.monotonic()
        if now - self._logged_at.get(code, -REPEAT_S) >= REPEAT_S:
            self._logged_at[code] = now
            log.warning("%s: %s", self._address, self._shown(error))

    def _note_commit(self, error: KafkaError | None, _: list[TopicPartition]) -> None:
        if error is not None and error.code() != KafkaError._NO_OFFSET:
            log.warning(
                "positions not committed, messages may be read again: %s", self._shown(error)
            )

    def _shown(self, error: KafkaError) -> str:
        """The client's message without secrets."""
        text = f"{error.name()}: {error.str()}"
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text


def _message(received: Received) -> KafkaMessage | None:
    partition, offset = received.partition(), received.offset()
    if partition is None or offset is None:
        return None
    return KafkaMessage(partition, offset, received.value() or b"", received.key() or b"")
