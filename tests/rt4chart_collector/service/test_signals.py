"""Signals of a process that hangs: asked politely, asked again, and left to its deadline."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

HANG = """
import logging, sys, time
from rt4chart_collector.service.signals import handle_signals
logging.basicConfig()
handle_signals(lambda: print("asked", flush=True), float(sys.argv[1]))
print("ready", flush=True)
if sys.argv[2] == "library":
    # Deep in a call that never comes back to the interpreter.
    import ctypes
    ctypes.CDLL(None).pause()
    ctypes.CDLL(None).sleep(600)
time.sleep(600)
"""


@contextmanager
def hanging(
    limit_s: float, where: str, *, hangup: signal.Handlers = signal.SIG_DFL
) -> Iterator[subprocess.Popen[str]]:
    """A process that does not end by itself, started with this disposition of SIGHUP."""
    before = signal.signal(signal.SIGHUP, hangup)
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", HANG, str(limit_s), where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("where", ["python", "library"])
@pytest.mark.parametrize(("second", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_second_signal_ends_at_once(where: str, second: int, code: int) -> None:
    """With its own status, also where the main thread is deep in a library."""
    with hanging(600, where) as process:
        assert process.stdout is not None
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(second)

        assert process.wait(60) == code


def test_deadline_ends_what_hangs() -> None:
    """With status 1 and a line that says so."""
    with hanging(0.5, "python") as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (1, "asked\n")
    assert "shutdown took longer than 0.5 s: aborted" in err


def test_a_closed_terminal_asks_politely() -> None:
    """As SIGTERM does."""
    with hanging(0.5, "python") as process:
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=60)

    assert (process.returncode, out) == (1, "asked\n")


def test_nohup_keeps_the_process_when_its_terminal_is_closed() -> None:
    """What is ignored at the start stays ignored."""
    with hanging(0.5, "python", hangup=signal.SIG_IGN) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)

    assert (process.returncode, out) == (1, "asked\n")
