"""`rt4chart demo --serve`, as a person runs it: an alarm, and from there to the sentence."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.needs import MINUTES

pytestmark = [pytest.mark.e2e, MINUTES]
MINUTES_S = 600


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """The demo with its console."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{probe.getsockname()[1]}"
    folder: Path = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "otel_rt4chart", "demo", "--serve", "--json"]
    command += ["--folder", str(folder), "--console", place]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_three_clicks_lead_from_the_alarm_to_the_sentence(demo: subprocess.Popen[str]) -> None:
    """Each page links to the next, the last one holds the claim; a signal ends it all."""
    assert demo.stdout is not None
    found = json.loads(demo.stdout.readline())

    with httpx.Client(timeout=60) as client:
        overview = client.get(found["console"])
        alert = client.get(found["alert"])
        answer = client.get(found["answer"])
    demo.send_signal(signal.SIGTERM)

    assert [one.status_code for one in (overview, alert, answer)] == [200, 200, 200]
    assert path_of(found["alert"]) in overview.text
    assert path_of(found["answer"]).partition("#")[0] in alert.text
    assert words(found["claim"]) in words(answer.text)
    assert demo.wait(MINUTES_S) == 0


def test_a_signal_before_the_alert_ends_the_service_too(tmp_path: Path) -> None:
    """The console is open by then; nothing listens there afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, "-m", "otel_rt4chart", "demo", "--serve", "--folder", str(tmp_path)]
    with subprocess.Popen(
        [*command, "--console", f"127.0.0.1:{port}"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        told = next(line for line in process.stderr if "http" in line)
        opened = httpx.get(told.split()[-1], timeout=60).status_code
        process.send_signal(signal.SIGTERM)
        status = process.wait(MINUTES_S)

    assert (opened, status) == (200, 130)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/", timeout=5)


def path_of(url: str) -> str:
    """What stands in a link."""
    return re.sub(r"^https?://[^/]+", "", url)


def words(text: str) -> str:
    """Without markup: a claim's words may be marked one by one."""
    return re.sub(r"\W+", " ", re.sub(r"<[^>]*>", "", text).replace("&#39;", "'"))
