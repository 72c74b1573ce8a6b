"""The judge's endpoint goes away for ten minutes of the service's clock."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.service.up import run_service
from tests.endpoint_server import EndpointServer
from tests.integration.faults.load import Load, assert_all_is_there_once
from tests.integration.needs import SHORT
from tests.oracle import Oracle, Truth

pytestmark = [pytest.mark.e2e, SHORT]
ORACLE = Oracle(judge=lambda claim, sentences: Truth("entailed", ("14 days",)))
AWAY_NS = 600 * 10**9
STEP_NS = 5 * 10**9
ANY = Address("127.0.0.1", 0)


def test_judge_that_is_away_for_ten_minutes_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spans are taken as ever; when the endpoint is back every answer gets its verdict."""
    jumped, load = [0], Load(clients=1, pause_s=0.2)
    with EndpointServer(ORACLE) as server:
        port = int(server.base_url.rpartition(":")[2].partition("/")[0])
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "bad")
    monkeypatch.setenv("RT4CHART_JUDGE_MAX_RETRIES", "0")
    settings = ServiceSettings(
        dsn=f"chdb://{tmp_path / 'db'}",
        judge="openai",
        otlp_http=ANY,
        otlp_grpc=ANY,
        health=None,
        trace_quiet_s=0.1,
    )
    with run_service(settings, clock=lambda: time.time_ns() + jumped[0]) as service:
        load.url = service.url
        with load.running():
            while jumped[0] < AWAY_NS:
                jumped[0] += STEP_NS
                time.sleep(0.1)
            load.finish()
        away = service.status()
        with EndpointServer(ORACLE, port=port):
            until = time.monotonic() + 120
            while not is_done(now := service.status(), 5 * len(load.acknowledged)):
                assert time.monotonic() < until, now
                jumped[0] += STEP_NS
                time.sleep(0.1)
    assert threading.active_count() < 50

    told = assert_all_is_there_once(tmp_path / "db", load)
    print({"away": away, **told})  # noqa: T201 - the count
    assert load.replies[0] == load.replies[503] == 0


def is_done(status: dict[str, object], answers: int) -> bool:
    """True where every answer has its verdict, and nothing is left to do."""
    decisions = status["decisions"]
    assert isinstance(decisions, dict)
    verified = decisions.get("verified", 0)
    return bool(status["idle"]) and verified >= answers and status["retries_waiting"] == 0
