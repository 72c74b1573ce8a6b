"""A judge that takes two seconds for each reply, and eight threads that wait for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.endpoint_server import EndpointServer
from tests.integration.faults.load import Load, assert_all_is_there_once
from tests.integration.needs import SHORT
from tests.integration.service import service
from tests.oracle import Oracle, Truth

pytestmark = [pytest.mark.e2e, SHORT]
ORACLE = Oracle(judge=lambda claim, sentences: Truth("entailed", ("14 days",)))
LATENCY_S, THREADS, REQUESTS = 2.0, 8, 6
FLAGS = ("--judge", "openai", "--workers", str(THREADS), "--trace-quiet-s", "0.1")


def test_slow_judge_holds_up_neither_requests_nor_other_answers(tmp_path: Path) -> None:
    """Requests are answered while the judge has most of the answers; it has eight at once."""
    load = Load(clients=1)
    with EndpointServer(ORACLE, latency_s=LATENCY_S) as judge:
        environ = {
            "OPENAI_BASE_URL": judge.base_url,
            "OPENAI_API_KEY": "bad",
            "RT4CHART_JUDGE_CONCURRENCY": str(THREADS),
        }
        with service(f"chdb://{tmp_path / 'db'}", *FLAGS, environ=environ) as running:
            load.url = running.url
            with load.running():
                load.wait_for(REQUESTS)
                load.finish()
            stored = running.status()
            running.wait_until(lambda status: bool(status["idle"]))
            code = running.stop()

    told = assert_all_is_there_once(tmp_path / "db", load)
    print({"at once": judge.most_at_once, **told})  # noqa: T201 - the count
    assert code == 0
    assert judge.errors == []
    assert stored["decisions"].get("verified", 0) < told["answers"]
    assert set(load.replies) == {200}
    assert judge.most_at_once == THREADS
