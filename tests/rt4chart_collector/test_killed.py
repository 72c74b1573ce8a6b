"""A kill in the middle of failures, retries and dead letters."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint_server import Answer, EndpointServer, Seen, error
from tests.oracle import Oracle, Truth
from tests.rt4chart_collector.store.answers.killed import ANSWERS

ROOT = Path(__file__).parents[2]
ORACLE = Oracle(judge=lambda claim, sentences: Truth("entailed", ("14 days",)))
PATIENCE_S = 120
TOO_LONG = {number for number in range(1, ANSWERS + 1) if number % 10 == 7}


class Script:
    """Busy for every third answer, and too small for some, as long as it is told to be."""

    def __init__(self) -> None:
        self.is_busy = self.is_small = True
        self.tried: set[int] = set()
        self.enough = threading.Event()

    def __call__(self, seen: Seen) -> Answer:
        """The reply about the plan that the material names."""
        number = int(next(iter(re.findall(r"plan (\d+)", seen.user)), "0"))
        self.tried.add(number)
        if len(self.tried) > ANSWERS // 2:
            self.enough.set()
        if self.is_small and number in TOO_LONG:
            return error(400, "maximum context length exceeded")
        if self.is_busy and number % 3 == 0:
            return error(429, "slow down")
        return ORACLE(seen)


def start(database: Path, server: EndpointServer, phase: str) -> subprocess.Popen[str]:
    """The process in that phase."""
    module = "tests.rt4chart_collector.store.answers.killed"
    given = (f"chdb://{database}", server.base_url, phase)
    return subprocess.Popen(
        [sys.executable, "-m", module, *given], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What the process says in the end."""
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    told: dict[str, Any] = json.loads(out)
    return told


@pytest.mark.e2e
def test_kill_in_the_middle_of_failures_loses_nothing_and_counts_nothing_twice(
    tmp_path: Path,
) -> None:
    """Sent, verified, tried again, given up and replayed: the figures add up in the end."""
    script = Script()
    with EndpointServer(script) as server:
        first = start(tmp_path / "db", server, "take")
        assert script.enough.wait(PATIENCE_S)
        first.kill()
        first.communicate()
        tried = set(script.tried)
        script.is_busy = False
        before = finished(start(tmp_path / "db", server, "finish"))
        script.is_small = False
        after = finished(start(tmp_path / "db", server, "replay"))

    verified, dead = ANSWERS - len(TOO_LONG), len(TOO_LONG)
    assert first.returncode == -9
    assert any(number % 3 == 0 for number in tried)
    assert before == {
        "decisions": {"verified:entailed": verified, "error:none": dead},
        "answers": verified,
        "claims": verified,
        "rollup": [verified, verified],
        "waiting": 0,
        "dead": {"too_long": dead},
    }
    assert after == {
        "decisions": {"verified:entailed": ANSWERS},
        "answers": ANSWERS,
        "claims": ANSWERS,
        "rollup": [ANSWERS, ANSWERS],
        "waiting": 0,
        "dead": {},
    }
