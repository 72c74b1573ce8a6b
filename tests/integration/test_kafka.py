"""Workers on a log of spans: counted, through kills, rebalances, poison and outages."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.service import service

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        os.environ.get("RT4CHART_INTEGRATION") != "1",
        reason="a broker of Maven's jars, and minutes: make test-integration",
    ),
]
pytest.importorskip("confluent_kafka", reason="pip install 'otel-rt4chart[kafka]'")

from tests.integration.kafka import Kafka, kafka  # noqa: E402
from tests.integration.kafka_workers import (  # noqa: E402
    GROUP,
    TOPIC,
    Worker,
    counts,
    expected,
    send,
    wait_counts,
    workers,
)

ANSWERS = 600


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """One broker for the module; each test has the topic for itself."""
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def topic(broker: Kafka) -> Iterator[Kafka]:
    """The broker with a new, empty topic of four partitions and its dead letters."""
    broker.create(TOPIC, f"{TOPIC}.dlq")
    yield broker
    broker.delete(TOPIC, f"{TOPIC}.dlq")
    broker.forget(GROUP)


@pytest.fixture
def dsn(tmp_path: Path) -> Iterator[str]:
    """A database that a service owns; the workers are its guests."""
    found = f"chdb://{tmp_path / 'db'}"
    with service(found):
        yield found


def test_killed_worker_costs_no_answer_and_doubles_none(
    topic: Kafka, dsn: str, tmp_path: Path
) -> None:
    """Two workers, signal 9 to one in the middle: every answer verified once, rates too."""
    send(topic, range(1, ANSWERS + 1))
    with workers(2, dsn, topic, tmp_path) as running:
        wait_counts(dsn, ANSWERS // 4, running)
        before = counts(dsn).verified
        running[0].stop(signal.SIGKILL)
        wait_counts(dsn, ANSWERS, running)
        topic.wait_committed(TOPIC, GROUP)
        code = running[1].stop()

    assert before < ANSWERS
    assert counts(dsn) == expected(ANSWERS)
    assert code == 0


def test_partitions_that_move_while_their_answers_are_judged(
    topic: Kafka, dsn: str, tmp_path: Path
) -> None:
    """Workers come and go in the middle; what one had open, another verifies, once."""
    send(topic, range(1, ANSWERS + 1))
    with workers(1, dsn, topic, tmp_path) as running:
        wait_counts(dsn, ANSWERS // 6, running)
        running.append(Worker(dsn, topic, tmp_path, {}))
        running.append(Worker(dsn, topic, tmp_path, {}))
        wait_counts(dsn, ANSWERS // 3, running)
        code = running[0].stop()
        wait_counts(dsn, ANSWERS, running)
        topic.wait_committed(TOPIC, GROUP)
        codes = [one.stop() for one in running[1:]]

    assert counts(dsn) == expected(ANSWERS)
    assert [code, *codes] == [0, 0, 0]
