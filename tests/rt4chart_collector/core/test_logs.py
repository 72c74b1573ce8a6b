"""The log: one line a record, whatever stands in it, and nothing of what users wrote."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.core.logs import (
    JSON,
    MAX_LINES,
    TEXT,
    JsonFormatter,
    RepeatedLines,
    TextFormatter,
)
from tests.polling import wait_until

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
SPEAK = """
import logging, sys, threading, warnings
from rt4chart_collector.core.logs import announce, configure_logging
form, level = sys.argv[1:]
configure_logging(form, level)
ours, theirs = logging.getLogger("rt4chart_collector.pipeline.worker"), logging.getLogger("openai")
ours.info("ours")
theirs.info("a request with its content")
logging.getLogger("uvicorn.error").error("Exception in ASGI application\\n")
try:
    raise ValueError("a user's text")
except ValueError:
    ours.exception("it failed")
logging.getLogger("x").warning("%d", "a secret")
warnings.warn("old", DeprecationWarning)
def die(): raise KeyError("a user's text")
thread = threading.Thread(target=die, name="some")
thread.start(); thread.join()
announce(form, "up", "here")
"""


def spoken(form: str, level: str) -> tuple[list[str], str]:
    """The lines on stderr of a process that logs, and its stdout."""
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", SPEAK, form, level],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.splitlines(), done.stdout


UNREAD = """
import os, sys
from rt4chart_collector.core.logs import announce, configure_logging, dropped_lines
import logging
configure_logging("text", "info")
log = logging.getLogger("rt4chart_collector")
announce("text", "up", "ready")
for number in range(1000):
    log.warning("line %d %s", number, "x" * 1000)
assert dropped_lines() >= 1000
with open(sys.argv[1], "w") as done:
    done.write(str(dropped_lines()))
assert sys.stdin.read(1)
log.warning("read again")
"""


@pytest.mark.parametrize("blocks", [True, False])
def test_unread_pipe_neither_blocks_nor_ends_the_process(tmp_path: Path, blocks: bool) -> None:
    """Lines are dropped and counted; the log says how many as soon as it is read again."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while os.write(writing, b"x" * 4096):
            pass
    os.set_blocking(writing, blocks)
    dropped = tmp_path / "dropped"
    command = [sys.executable, "-c", UNREAD, str(dropped)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=writing, stderr=writing) as child:
        wait_until(lambda: dropped.exists() and dropped.read_text() != "", within_s=60)
        os.close(writing)
        os.set_blocking(reading, False)
        while len(os.read(reading, 2**20)) == 2**20:
            pass
        os.set_blocking(reading, True)
        child.communicate(b"1", timeout=60)
    with open(reading) as rest:
        lines = rest.read().splitlines()

    assert child.returncode == 0
    assert [line.partition("rt4chart_collector")[2] for line in lines] == [
        f".core.logs: {dropped.read_text()} lines of the log were dropped: stderr was not read",
        ": read again",
    ]


def record(message: str) -> logging.LogRecord:
    """A warning with that text."""
    return logging.LogRecord("rt4chart", logging.WARNING, "", 0, "%s", (message,), None)


def test_text_is_one_line_a_record() -> None:
    """Time in UTC, level, logger, message; of an error its type and place, not its message."""
    lines, out = spoken(TEXT, "info")

    assert all(re.match(rf"{TIME} (INFO|WARNING|ERROR) \S+: ", line) for line in lines), lines
    assert out == "rt4chart up: here\n"
    assert any(
        "rt4chart_collector.pipeline.worker: it failed (ValueError < <string>:" in one
        for one in lines
    )
    assert any(": thread some ended: KeyError < " in line for line in lines)


def test_json_is_one_object_a_record() -> None:
    """stdout too; an error has its type in a field of its own."""
    lines, out = spoken(JSON, "info")

    told = [json.loads(line) for line in [*lines, *out.splitlines()]]
    assert all(re.fullmatch(TIME, one["time"]) for one in told)
    assert {one["level"] for one in told} == {"info", "warning", "error"}
    failed = next(one for one in told if one["message"] == "it failed")
    assert (failed["exception"], failed["logger"]) == (
        "ValueError",
        "rt4chart_collector.pipeline.worker",
    )
    assert failed["where"].startswith("ValueError < <string>:")
    assert told[-1]["message"] == "here"


@pytest.mark.parametrize("form", [TEXT, JSON])
def test_level_is_that_of_our_own_loggers(form: str) -> None:
    """Libraries below warnings write down requests; no text of a user is in any line."""
    loud, quiet = ("\n".join(spoken(form, level)[0]) for level in ("debug", "error"))

    assert ("ours" in loud, "ours" in quiet) == (True, False)
    for lines in (loud, quiet):
        assert "Exception in ASGI application" in lines
        for hidden in ("content", "user's text", "secret"):
            assert hidden not in lines


@given(st.text() | st.sampled_from(["\x1b[2J", "a\nb", "\u202eevil", "\x7f", "\x9b31m", "\u2028"]))
def test_no_message_steers_a_terminal_or_makes_a_second_line(message: str) -> None:
    """Control characters and those that turn the direction of text are escaped in both forms."""
    text, line = (made().format(record(message)) for made in (TextFormatter, JsonFormatter))

    for written in (text, line):
        assert len(written.splitlines()) == 1
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e]", written)
    assert json.loads(line)["message"] == message.strip()


def test_what_a_library_repeats_is_written_once_a_minute() -> None:
    """A database that is away, or no free file descriptor, would be many lines a second."""
    now = [0.0]
    repeated = RepeatedLines(lambda: now[0])
    away: dict[str, object] = {
        "name": "urllib3.connectionpool",
        "msg": "Retrying (%r) after",
        "lineno": 7,
    }
    accept: dict[str, object] = {
        "name": "asyncio",
        "msg": "socket.accept() out of system resource\nsocket: 5",
    }
    lines: list[dict[str, object]] = [
        away,
        accept,
        {"name": "asyncio", "msg": "Task exception was never retrieved"},
    ]

    passed = []
    for now[0] in (0.0, 0.1, 59.9, 60.0):
        passed.append([repeated.filter(logging.makeLogRecord(line)) for line in lines])

    assert passed == [[True] * 3, [False] * 3, [False] * 3, [True] * 3]


def test_our_own_lines_are_never_held_back() -> None:
    """Each says something else, or holds itself back."""
    repeated = RepeatedLines(lambda: 0.0)
    record = logging.makeLogRecord({"name": "rt4chart_collector.pipeline", "msg": "one"})

    assert [repeated.filter(record) for _ in range(3)] == [True] * 3


def test_lines_that_differ_without_end_are_not_all_remembered() -> None:
    """A library may write a number into the text of its line."""
    repeated = RepeatedLines(lambda: 0.0)

    for number in range(5 * MAX_LINES):
        assert repeated.filter(logging.makeLogRecord({"name": "x", "msg": f"{number} failed"}))

    assert len(repeated._throttles) <= MAX_LINES
