"""`rt4chart console` as a process: beside nothing but a store."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from tests.polling import wait_until


def status_of(url: str) -> int:
    """The status of the address, 0 where nothing listens."""
    asked = urllib.request.Request(url, headers={"accept": "text/html"})  # noqa: S310 - ours
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310 - our own process
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@pytest.mark.e2e
def test_it_is_up_while_its_database_is_away(tmp_path: Path) -> None:
    """A page says so (503), the process is well, and a signal ends it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    dsn = "http://nobody:secret-word@127.0.0.1:1/otel"
    flags = ["--dsn", dsn, "--console", f"127.0.0.1:{port}"]
    started = subprocess.Popen(
        [sys.executable, "-m", "otel_rt4chart", "console", *flags],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    try:
        wait_until(lambda: status_of(f"http://127.0.0.1:{port}/healthz") == 200)
        assert status_of(f"http://127.0.0.1:{port}/") == 503
        assert status_of(f"http://127.0.0.1:{port}/settings") == 200
    finally:
        started.send_signal(signal.SIGTERM)
        said, _ = started.communicate(timeout=60)
    assert started.returncode == 0
    assert f"http://127.0.0.1:{port}" in said
    assert "secret-word" not in said
    assert "monitoring its routes" in said


def test_it_has_to_be_somewhere(capsys: pytest.CaptureFixture[str]) -> None:
    """Off is nothing to start."""
    assert main(["console", "--console", "off"]) == 2
    assert "RT4CHART_CONSOLE: expected an address" in capsys.readouterr().err
