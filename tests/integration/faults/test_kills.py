"""The service killed again and again while it works."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.integration.faults.load import Load, assert_all_is_there_once
from tests.integration.needs import IS_WHOLE, SHORT
from tests.integration.service import service

pytestmark = [pytest.mark.e2e, SHORT]
KILLS = 20 if IS_WHOLE else 5
FLAGS = ("--judge", "rules", "--trace-quiet-s", "0.1")


def test_twenty_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    """Signal 9 at random moments under load: acknowledged is stored, decided once, summed once."""
    database, moments = tmp_path / "db", random.Random(20)  # noqa: S311 - moments
    load, recovered = Load(), 0
    with load.running():
        for _ in range(KILLS):
            with service(f"chdb://{database}", *FLAGS) as running:
                load.url = running.url
                load.wait_for(1)
                time.sleep(moments.uniform(0.0, 2.0))
                recovered += running.status()["spans_recovered"]
                running.stop(signal.SIGKILL)
        last = service(f"chdb://{database}", *FLAGS)
        running = last.__enter__()
        load.url = running.url
        load.wait_for(1)
    try:
        running.wait_until(lambda status: bool(status["idle"]))
        code = running.stop()
    finally:
        last.__exit__(None, None, None)

    told = assert_all_is_there_once(database, load)
    print({"kills": KILLS, "spans found again": recovered, **told})  # noqa: T201 - the count
    assert code == 0
    assert told["requests"] > KILLS
    assert recovered > 0
