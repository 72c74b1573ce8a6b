"""Rates from a real file and a real server, taken up while the process runs."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import guard
from otel_rt4chart.sampling import Policy, Sampler
from otel_rt4chart.sampling.rates import RatesSource
from tests.otel_rt4chart.sampling.rates_server import serving

OWN = Policy(rate=0.25, route_rates={"checkout": 1.0}, salt="s", per_day=5)
NEVER = 3600.0
TOKEN = "t0ken"  # noqa: S105 nobody's


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    """What would be swallowed fails the test."""
    guard.strict = True
    yield
    guard.strict = False


def test_a_file_s_rates_are_taken_up_and_followed(tmp_path: Path) -> None:
    """What it leaves out is the policy's own, and so is all of it after the end."""
    path = tmp_path / "rates.json"
    path.write_text('{"rate": 0.5}')
    sampler = Sampler(OWN)
    with closing(RatesSource(str(path), sampler, NEVER)) as source:
        source.poll()
        assert sampler.policy == Policy(0.5, {"checkout": 1.0}, "s", per_day=5)

        path.write_text('{"routes": {"support/*": 0.1}}')
        source.poll()
        assert sampler.policy == Policy(0.25, {"support/*": 0.1}, "s", per_day=5)

    assert sampler.policy == OWN
    source.poll()
    assert sampler.policy == OWN


def test_the_last_good_rates_stay_and_each_problem_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Broken, then gone, then back again."""
    caplog.set_level(logging.INFO, "otel_rt4chart")
    path = tmp_path / "secret-rates.json"
    path.write_text('{"rate": 0.5}')
    sampler = Sampler(OWN)
    with closing(RatesSource(str(path), sampler, NEVER)) as source:
        source.poll()
        path.write_text('{"rate": 7}')
        for _ in range(3):
            source.poll()
        path.unlink()
        for _ in range(3):
            source.poll()
        assert sampler.policy.rate == 0.5
        path.write_text('{"rate": 0.75}')
        source.poll()
        assert sampler.policy.rate == 0.75

    told = [record.getMessage() for record in caplog.records]
    assert [line.split(": ", 1)[1] for line in told[:2]] == [
        "rate and routes: expected numbers from 0 to 1, got others; see RT4CHART_RATES",
        "cannot be read (FileNotFoundError); see RT4CHART_RATES",
    ]
    assert told[2:] == ["sampling rates are available again"]
    assert "secret" not in caplog.text


def test_what_has_expired_gives_way_to_the_policy_s_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where the source is gone by then; who asks for more says for how long."""
    path, now = tmp_path / "rates.json", [100.0]
    path.write_text(json.dumps({"rate": 1, "expires": "1970-01-01T00:05:00Z"}))
    sampler = Sampler(OWN)
    with closing(RatesSource(str(path), sampler, NEVER, clock=lambda: now[0])) as source:
        source.poll()
        assert sampler.policy.rate == 1.0

        now[0] = 300.0
        source.poll()
        source.poll()
        assert sampler.policy == OWN

        path.unlink()
        source.poll()
        assert sampler.policy == OWN

    assert caplog.text.count("expired") == 1


def test_a_server_is_asked_by_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    """Again and again, with the token, which no log shows."""
    with serving() as server:
        server.body = b'{"rate": 0.5}'
        sampler = Sampler(OWN)
        with closing(RatesSource(server.address, sampler, 0.001, token=TOKEN)) as source:
            for _ in range(3):
                assert server.asked.wait(10)
                server.asked.clear()
            source.poll()
            assert sampler.policy.rate == 0.5

            server.status = 503
            source.poll()
            assert sampler.policy.rate == 0.5

        assert {one["Authorization"] for one in server.seen} == {f"Bearer {TOKEN}"}
    assert "cannot be read (HTTPError)" in caplog.text
    assert TOKEN not in caplog.text


def test_closing_ends_the_thread(tmp_path: Path) -> None:
    """Without waiting for its next turn."""
    before = set(threading.enumerate())
    source = RatesSource(str(tmp_path / "none"), Sampler(OWN), NEVER)
    (thread,) = set(threading.enumerate()) - before
    assert thread.daemon

    source.close()

    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("source", ["http://rates.example/secret", ""])
def test_what_is_no_source_is_refused(source: str) -> None:
    """Without saying it: an address may hold a secret."""
    with pytest.raises(SettingsError, match="expected a file, an https URL") as caught:
        RatesSource(source, Sampler(OWN))

    assert "secret" not in str(caught.value)


FORKING = """
import os, sys, time
from otel_rt4chart.sampling import Policy, Sampler
from otel_rt4chart.sampling.rates import RatesSource
path = sys.argv[1]
sampler = Sampler(Policy(rate=0.25))
source = RatesSource(path, sampler, 0.01)
child = os.fork()
if child == 0:
    open(path, "w").write('{"rate": 0.75}')
    end = time.monotonic() + 10
    while sampler.policy.rate != 0.75 and time.monotonic() < end:
        time.sleep(0.01)
    os._exit(0 if sampler.policy.rate == 0.75 else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status)  # the thread still runs: it must keep nobody
"""


def test_a_forked_child_reads_too_and_no_thread_keeps_the_process(tmp_path: Path) -> None:
    """Servers fork their workers after they have set up."""
    path = tmp_path / "rates.json"

    run = subprocess.run(
        [sys.executable, "-c", FORKING, str(path)], timeout=30, capture_output=True, text=True
    )

    assert run.returncode == 0
    assert "Traceback" not in run.stderr
