"""`rt4chart work` as a process: it heeds signals before it reads anything."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

START = "import sys; from otel_rt4chart.cli import main; sys.exit(main(sys.argv[1:]))"


def test_signal_is_heeded_before_the_broker_answers(tmp_path: Path) -> None:
    """The first asks for the end, the second is the end, with its number as status."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        port = silent.getsockname()[1]
        settings = {
            "RT4CHART_SOURCE": f"kafka://127.0.0.1:{port}/spans",
            "RT4CHART_DSN": f"chdb://{tmp_path}/db",
            "RT4CHART_JUDGE": "rules",
            "RT4CHART_WORK_HTTP": "off",
        }
        process = subprocess.Popen(
            [sys.executable, "-c", START, "work"],
            env={**os.environ, **settings},
            stderr=subprocess.DEVNULL,
        )
        try:
            connection, _ = silent.accept()
            with connection:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(1)
                    heeded = False
                except subprocess.TimeoutExpired:
                    heeded = True
                process.send_signal(signal.SIGTERM)
                status = process.wait(10)
        finally:
            process.kill()
            process.wait()

    assert heeded
    assert status == 128 + signal.SIGTERM
