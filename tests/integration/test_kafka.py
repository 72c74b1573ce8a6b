"""Workers on a log of spans: counted, through kills, rebalances, poison and outages."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate
from tests.clickhouse_server import PASSWORD, database, dsn_of
from tests.integration.needs import BROKER
from tests.integration.service import service

pytestmark = BROKER
pytest.importorskip("confluent_kafka", reason="pip install 'otel-rt4chart[kafka]'")

from tests.integration.kafka import Kafka, free_port, kafka  # noqa: E402
from tests.integration.kafka_workers import (  # noqa: E402
    GROUP,
    TOPIC,
    Road,
    Worker,
    counts,
    expected,
    send,
    until_logged,
    wait_counts,
    workers,
)

ANSWERS = 600
# What may be committed without an answer: of each partition a message whose trace has none yet.
OPEN = 8


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


def test_poison_in_the_middle_is_put_aside_and_stops_nothing(
    topic: Kafka, dsn: str, tmp_path: Path
) -> None:
    """It lies in the topic for dead letters with its reason and place; the log quotes nothing."""
    send(topic, range(1, 31))
    topic.send(TOPIC, b"\xff secret words", b"key", partition=2)
    topic.flush()
    place = topic.ends(TOPIC)[2] - 1
    send(topic, range(31, 61))
    with workers(1, dsn, topic, tmp_path) as running:
        wait_counts(dsn, 60, running)
        topic.wait_committed(TOPIC, GROUP)
        running[0].stop()
        log = running[0].log

    ((body, headers),) = topic.read(f"{TOPIC}.dlq", 1)
    assert counts(dsn) == expected(60)
    assert body == b"\xff secret words"
    assert headers == {
        "rt4chart.reason": b"no ExportTraceServiceRequest in protobuf encoding",
        "rt4chart.topic": TOPIC.encode(),
        "rt4chart.partition": b"2",
        "rt4chart.offset": str(place).encode(),
    }
    assert f"partition 2, offset {place}" in log
    assert "secret" not in log


def test_poison_that_cannot_be_put_aside_is_not_committed(
    topic: Kafka, dsn: str, tmp_path: Path
) -> None:
    """Without a topic for dead letters it waits; what is behind it is verified all the same."""
    topic.delete(f"{TOPIC}.dlq")
    try:
        topic.send(TOPIC, b"\xff", b"key", partition=2)
        topic.flush()
        send(topic, range(1, 31))
        with workers(1, dsn, topic, tmp_path) as running:
            wait_counts(dsn, 30, running)
            until_logged(running[0], "could not be written to the dead letters")
            running[0].stop()
    finally:
        topic.create(f"{TOPIC}.dlq")

    assert counts(dsn) == expected(30)
    assert topic.committed(TOPIC, GROUP).get(2, 0) == 0


def test_broker_that_is_killed_and_comes_back(dsn: str, tmp_path: Path) -> None:
    """The workers wait for it, and go on where they were."""
    with kafka(tmp_path) as topic:
        topic.create(TOPIC, f"{TOPIC}.dlq")
        send(topic, range(1, ANSWERS + 1))
        with workers(2, dsn, topic, tmp_path) as running:
            wait_counts(dsn, ANSWERS // 4, running)
            topic.broker.stop()
            before = counts(dsn).verified
            time.sleep(3)
            topic.broker.start()
            wait_counts(dsn, ANSWERS, running)
            topic.wait_committed(TOPIC, GROUP)
            codes = [one.stop() for one in running]

    assert before < ANSWERS
    assert counts(dsn) == expected(ANSWERS)
    assert codes == [0, 0]


@pytest.mark.parametrize("stores", ["true", "false"])
def test_store_that_is_away_for_a_while(topic: Kafka, tmp_path: Path, stores: str) -> None:
    """Nothing is committed that is not decided, and all of it is in the end."""
    port = free_port()
    dsn = dsn_of(port)
    with database(tmp_path / "server", port):
        with connect(dsn) as client:
            migrate(client)
        road = Road(port)
        send(topic, range(1, ANSWERS + 1))
        by_road = dsn_of(road.port)
        with workers(2, by_road, topic, tmp_path, RT4CHART_STORE_SPANS=stores) as running:
            wait_counts(dsn, ANSWERS // 4, running)
            road.close()
            before = counts(dsn).verified
            time.sleep(12)
            away = counts(dsn).verified
            assert sum(topic.committed(TOPIC, GROUP).values()) <= 2 * away + OPEN
            road.open()
            wait_counts(dsn, ANSWERS, running)
            topic.wait_committed(TOPIC, GROUP)
            codes = [one.stop() for one in running]
        found = counts(dsn)

    assert before <= away < ANSWERS
    assert found == expected(ANSWERS)
    assert codes == [0, 0]
    assert PASSWORD not in running[0].log


def test_figures_of_a_worker(topic: Kafka, dsn: str, tmp_path: Path) -> None:
    """Its partitions and what they are behind, from its own port."""
    port = free_port()
    send(topic, range(1, 31))
    with workers(1, dsn, topic, tmp_path, RT4CHART_WORK_HTTP=f"127.0.0.1:{port}") as running:
        wait_counts(dsn, 30, running)
        topic.wait_committed(TOPIC, GROUP)
        url = f"http://127.0.0.1:{port}"
        status = httpx.get(f"{url}/status", timeout=30).json()
        metrics = httpx.get(f"{url}/metrics", timeout=30).text
        ready = httpx.get(f"{url}/readyz", timeout=30).status_code
        running[0].stop()

    assert status["partitions"] == [0, 1, 2, 3]
    assert set(status["lag"].values()) == {0}
    assert (status["messages"]["read"], status["decisions"]) == (60, {"verified": 30})
    assert 'rt4chart_kafka_messages_total{result="buried"} 0.0' in metrics
    assert "rt4chart_kafka_paused_partitions 0.0" in metrics
    assert ready == 200


def test_little_memory_pauses_and_never_loses_the_membership(
    topic: Kafka, dsn: str, tmp_path: Path
) -> None:
    """Partitions are paused while more is open than may be, and polled all the same."""
    port = free_port()
    given = {
        "RT4CHART_TRACE_BUFFER_MIB": "1",
        "RT4CHART_TRACE_QUIET_S": "8",
        "RT4CHART_KAFKA_MAX_POLL_INTERVAL_MS": "7000",
        "RT4CHART_WORK_HTTP": f"127.0.0.1:{port}",
    }
    send(topic, range(1, ANSWERS + 1))
    with workers(1, dsn, topic, tmp_path, **given) as running:
        until_logged(running[0], "rt4chart work: kafka://")
        paused: list[int] = []
        while not paused:
            paused = httpx.get(f"http://127.0.0.1:{port}/status").json()["partitions_paused"]
        wait_counts(dsn, ANSWERS, running)
        topic.wait_committed(TOPIC, GROUP)
        running[0].stop()
        log = running[0].log

    assert counts(dsn) == expected(ANSWERS)
    assert "MAX_POLL" not in log
