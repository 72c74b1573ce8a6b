"""Workers in another network than the broker and the database, and a cable that is cut."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate
from tests.clickhouse_server import database, dsn_of
from tests.integration import namespaces
from tests.integration.needs import IS_WHOLE, SHORT_BROKER

pytestmark = [
    *SHORT_BROKER,
    pytest.mark.skipif(bool(namespaces.lack()), reason=namespaces.lack()),
]
pytest.importorskip("confluent_kafka", reason="pip install 'otel-rt4chart[kafka]'")

from tests.integration.kafka import free_port, kafka  # noqa: E402
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

PART = 200 if IS_WHOLE else 70
# Longer than a session: the broker takes both workers for dead.
CUT_S = 8.0


def test_cut_network_and_killed_worker_cost_no_answer_and_double_none(tmp_path: Path) -> None:
    """Each comes as soon as further answers are sent: all are verified once, sums too."""
    port = free_port()
    dsn = dsn_of(port, namespaces.HERE)
    first, second, third = (range(n * PART + 1, (n + 1) * PART + 1) for n in range(3))
    with (
        namespaces.another_network() as network,
        database(tmp_path / "server", port, namespaces.HERE),
        kafka(tmp_path, namespaces.HERE) as topic,
    ):
        with connect(dsn) as client:
            migrate(client)
        topic.create(TOPIC, f"{TOPIC}.dlq")
        send(topic, first)
        with workers(2, dsn, topic, tmp_path, within=network.within) as running:
            wait_counts(dsn, PART // 2, running)
            send(topic, second)
            network.cut()
            before = counts(dsn).verified
            time.sleep(CUT_S)
            away = counts(dsn).verified
            network.mend()
            wait_counts(dsn, 2 * PART, running)
            send(topic, third)
            running[0].stop(signal.SIGKILL)
            running.append(Worker(dsn, topic, tmp_path, {}, network.within))
            wait_counts(dsn, 3 * PART, running)
            topic.wait_committed(TOPIC, GROUP)
            codes = [one.stop() for one in running[1:]]
        found = counts(dsn)

    print({"answers": 3 * PART, "when cut": before, "lossy": network.is_lossy})  # noqa: T201 - counts
    assert before <= away < 2 * PART
    assert found == expected(3 * PART)
    assert codes == [0, 0]
