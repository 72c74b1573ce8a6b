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

ANSWERS = 600 if IS_WHOLE else 200
# Longer than a session: the broker takes both workers for dead.
CUT_S = 8.0


def test_cut_network_and_killed_worker_cost_no_answer_and_double_none(tmp_path: Path) -> None:
    """The cable is cut in the middle, and then signal 9 comes: all verified once, sums too."""
    port = free_port()
    dsn = dsn_of(port, namespaces.HERE)
    with (
        namespaces.another_network() as network,
        database(tmp_path / "server", port, namespaces.HERE),
        kafka(tmp_path, namespaces.HERE) as topic,
    ):
        with connect(dsn) as client:
            migrate(client)
        topic.create(TOPIC, f"{TOPIC}.dlq")
        send(topic, range(1, ANSWERS + 1))
        with workers(2, dsn, topic, tmp_path, within=network.within) as running:
            wait_counts(dsn, ANSWERS // 4, running)
            network.cut()
            before = counts(dsn).verified
            time.sleep(CUT_S)
            network.mend()
            wait_counts(dsn, (before + ANSWERS) // 2, running)
            killed = counts(dsn).verified
            running[0].stop(signal.SIGKILL)
            running.append(Worker(dsn, topic, tmp_path, {}, network.within))
            wait_counts(dsn, ANSWERS, running)
            topic.wait_committed(TOPIC, GROUP)
            codes = [one.stop() for one in running[1:]]
        found = counts(dsn)

    print({"answers": ANSWERS, "when cut": before, "when killed": killed})  # noqa: T201 - the count
    print({"packets delayed and lost": network.is_lossy})  # noqa: T201 - where the kernel can
    assert before < ANSWERS
    assert found == expected(ANSWERS)
    assert codes == [0, 0]
