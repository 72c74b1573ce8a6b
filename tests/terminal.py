"""A command before a terminal: a pseudo-terminal of 80 columns, and what was written on it."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

COLUMNS, LINES = 80, 24


def on_a_terminal(
    *arguments: str, environ: Mapping[str, str] | None = None, timeout: float = 60
) -> tuple[int, str]:
    """The exit status of `rt4chart` with these arguments, and what a terminal shows of it."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    command = [str(Path(sys.executable).parent / "rt4chart"), *arguments]
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    running = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**known, "TERM": "xterm", **(environ or {})},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := _read(ours):
            shown += piece
        return running.wait(timeout), shown.decode().replace("\r\n", "\n")
    finally:
        running.kill()
        running.wait()
        os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # nobody writes any more
        return b""
