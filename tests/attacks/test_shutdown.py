"""SIGTERM while statements run that the engine cannot interrupt at once."""

from __future__ import annotations

import os
import threading
import time
from itertools import cycle
from pathlib import Path

import httpx
import pytest

from rt4chart_collector.store.engine.embedded_folder import LocalEndpoint, read_endpoint
from tests.integration.service import service

pytestmark = pytest.mark.e2e
IS_FULL = os.environ.get("RT4CHART_ATTACK") == "full"
RUNS = 10 if IS_FULL else 1
CLIENTS = 8
# Functions over one block look at no flag before they end.
STATEMENTS = (
    "SELECT sleep(3)",
    "SELECT length(arraySort(arrayMap(x -> cityHash64(x), range(12000000))))",
    "SELECT sum(cityHash64(number, number + 1)) FROM numbers(100000000000)",
    "SELECT length(arrayFilter(x -> sipHash64(x) % 7 = 0, range(20000000)))",
    "SELECT sleep(2.9), count() FROM otel.otel_traces",
)


def ask(endpoint: LocalEndpoint, statement: str, stopped: threading.Event) -> None:
    """Send the statement again and again."""
    headers = {"authorization": f"Bearer {endpoint.token}", "content-type": "text/plain"}
    with httpx.Client(headers=headers, timeout=60) as client:
        while not stopped.is_set():
            try:
                client.post(f"http://127.0.0.1:{endpoint.port}/", content=statement)
            except httpx.TransportError:
                stopped.wait(0.1)


@pytest.mark.parametrize("run", range(RUNS))
def test_service_ends_cleanly_while_statements_run(tmp_path: Path, run: int) -> None:
    """With status 0, within the time for statements; the next start finds the database well."""
    database, stopped = tmp_path / "db", threading.Event()
    for number in range(2):
        with service(f"chdb://{database}", "--judge", "rules") as running:
            endpoint = read_endpoint(database)
            assert endpoint is not None
            threads = [
                threading.Thread(target=ask, args=(endpoint, statement, stopped), daemon=True)
                for _, statement in zip(range(CLIENTS), cycle(STATEMENTS), strict=False)
            ]
            for thread in threads[: CLIENTS * (1 - number)]:
                thread.start()
            time.sleep((1.5 + 0.27 * run) * (1 - number))
            code = running.stop()
            stopped.set()

        assert code == 0
