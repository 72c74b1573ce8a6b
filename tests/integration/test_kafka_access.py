"""What a worker says where the brokers are not there, or do not let it in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.needs import BROKER
from tests.integration.service import service

pytestmark = BROKER
pytest.importorskip("confluent_kafka", reason="pip install 'otel-rt4chart[kafka]'")

from rt4chart_collector.core.settings_parsers import KafkaAddress  # noqa: E402
from rt4chart_collector.ingest.kafka.consumer import KafkaSource  # noqa: E402
from rt4chart_collector.ingest.kafka.source import KafkaMessage, SourceError  # noqa: E402
from tests.integration.kafka import PASSWORD, Kafka, free_port, kafka  # noqa: E402
from tests.integration.kafka_workers import GROUP, TOPIC, expected, send, wait_counts, workers  # noqa: E402


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker that knows users."""
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        running.create(TOPIC, f"{TOPIC}.dlq")
        yield running


def told(source: str, **environ: str) -> str:
    """What a worker that cannot start says, in the end; its status is 2."""
    kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    given = {f"RT4CHART_{name}": value for name, value in environ.items()}
    done = subprocess.run(
        [sys.executable, "-m", "otel_rt4chart", "work", "--source", source],
        capture_output=True,
        text=True,
        env={**kept, "RT4CHART_JUDGE": "rules", "RT4CHART_WORK_HTTP": "off", **given},
    )
    assert done.returncode == 2, done.stderr
    assert PASSWORD not in done.stderr + done.stdout
    assert "hunter2" not in done.stderr + done.stdout
    return done.stderr.splitlines()[-1]


def as_user(name: str, password: str) -> dict[str, str]:
    """The variables for that user."""
    return {
        "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "KAFKA_SASL_MECHANISM": "PLAIN",
        "KAFKA_SASL_USERNAME": name,
        "KAFKA_SASL_PASSWORD": password,
    }


def test_broker_that_is_not_there_is_named() -> None:
    """With its address, and what to do."""
    port = free_port()

    said = told(f"kafka://127.0.0.1:{port}/{TOPIC}")

    assert f"127.0.0.1:{port}: no usable answer" in said
    assert "expected a Kafka broker there" in said


def test_topic_that_is_not_there_is_named_and_not_made(broker: Kafka) -> None:
    """A misspelt one must not come into being."""
    said = told(f"kafka://{broker.address}/otlp_spams")

    assert "topic otlp_spams" in said
    assert "expected an existing topic" in said
    assert "otlp_spams" not in broker.topics()


def test_wrong_password_is_told_without_it(broker: Kafka) -> None:
    """Nor is it in the log of the client."""
    source = f"kafka://127.0.0.1:{broker.broker.sasl_port}/{TOPIC}"

    said = told(source, **as_user("worker", "hunter2"))

    assert "expected credentials that the broker accepts" in said


def test_user_who_may_not_read_is_told_what_is_needed(broker: Kafka) -> None:
    """The right, and on what."""
    source = f"kafka://127.0.0.1:{broker.broker.sasl_port}/{TOPIC}"

    said = told(source, **as_user("guest", PASSWORD))

    assert "expected permission to read and describe the topic" in said


def test_property_that_is_none_is_named() -> None:
    """And not its value."""
    said = told("kafka://127.0.0.1:9/x", KAFKA_SASL_PASWORD="hunter2")  # noqa: S106 - a test's

    assert 'No such configuration property: "sasl.pasword"' in said


def test_burial_that_the_client_refuses_is_told_with_its_cause(broker: Kafka) -> None:
    """Properties that are none for a producer end no worker."""
    wrong = {"enable.idempotence": "true", "max.in.flight.requests.per.connection": "10"}
    source = KafkaSource(KafkaAddress(broker.address, TOPIC, GROUP), wrong)

    with pytest.raises(SourceError, match=r"max\.in\.flight"):
        source.send_dead_letter(KafkaMessage(0, 0, b"\xff"), "a reason")
    source.close()


def test_user_who_may_works(broker: Kafka, tmp_path: Path) -> None:
    """With the credentials in a file, dead letters too."""
    file = tmp_path / "client.properties"
    lines = (
        f"{name.removeprefix('KAFKA_').lower().replace('_', '.')}={value}\n"
        for name, value in as_user("worker", PASSWORD).items()
    )
    file.write_text("".join(lines))
    send(broker, range(1, 13))
    broker.send(TOPIC, b"\xff", b"key")
    broker.flush()
    dsn = f"chdb://{tmp_path / 'db'}"
    source = f"kafka://127.0.0.1:{broker.broker.sasl_port}/{TOPIC}?group={GROUP}"
    with (
        service(dsn),
        workers(
            1, dsn, broker, tmp_path, RT4CHART_SOURCE=source, RT4CHART_KAFKA_CONFIG=str(file)
        ) as running,
    ):
        found = wait_counts(dsn, 12, running)
        broker.wait_committed(TOPIC, GROUP)
        running[0].stop()

    assert found == expected(12)
    assert len(broker.read(f"{TOPIC}.dlq", 1)) == 1
    assert PASSWORD not in running[0].log
