"""The running service with a judge that fails: a dead letter, and its way back."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.endpoint_server import Answer, EndpointServer, Seen, error
from tests.integration.service import read, service
from tests.oracle import Oracle, Truth
from tests.rt4chart_collector.otlp.messages import rag_trace, request

pytestmark = pytest.mark.e2e
GOOD = "The trial lasts 14 days."
ORACLE = Oracle({GOOD: Truth("entailed", ("14 days",))})
DECISIONS = "SELECT Decision, Label, count() FROM rt4chart_verifications FINAL GROUP BY ALL"
ROLLUP = "SELECT sum(Answers), sum(Claims) FROM rt4chart_route_1m"
LETTERS = "SELECT count() FROM rt4chart_dead_letters FINAL WHERE IsDeleted = 0"

CARRIERS = (
    "SELECT count() FROM otel_traces WHERE SpanAttributes['openinference.span.kind'] = 'EVALUATOR'"
)


def command(dsn: str, *words: str) -> str:
    """What a command says, beside the service on its database."""
    whole = [sys.executable, "-m", "otel_rt4chart", *words, "--dsn", dsn]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_dead_letters_are_replayed_while_the_service_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are counted in the status, and verified when the endpoint takes them.

    Another judge may look at the same answers meanwhile.
    """
    is_small = True

    def script(seen: Seen) -> Answer:
        return error(400, "maximum context length exceeded") if is_small else ORACLE(seen)

    dsn = f"chdb://{tmp_path / 'db'}"
    with EndpointServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "bad")
        with service(dsn, "--judge", "openai", "--trace-quiet-s", "0.2") as running:
            now = time.time_ns()
            spans = [span for n in (1, 2) for span in rag_trace(n, start_ns=now, answer=GOOD)]
            assert running.send(request(*spans)) == 200
            dead = running.wait_until(lambda status: status["dead_letters"] == {"too_long": 2})
            is_small = False
            replayed = command(dsn, "replay")
            alive = running.wait_until(lambda status: status["retries"].get("answered") == 2)
            running.wait_until(lambda status: not status["dead_letters"])
            backfilled = command(dsn, "verify", "--from-store", "--judge", "rules")
            agreed = command(dsn, "agreement")
            code = running.stop()

    decisions, rollup, letters, carriers = read(
        tmp_path / "db", DECISIONS, ROLLUP, LETTERS, CARRIERS
    )
    assert "2 dead letters back in the queue" in replayed
    assert "2 answers, 0 with an error" in backfilled
    assert "2 answers, 100.0% with the same label" in agreed
    assert (dead["judging"], dead["decisions"]) == ({"paused": False}, {"error": 2})
    assert (alive["retries"], code) == ({"answered": 2, "given_up": 2}, 0)
    assert decisions == [["verified", "entailed", 4]]
    assert (rollup, letters, carriers) == ([[4, 4]], [[0]], [[2]])
